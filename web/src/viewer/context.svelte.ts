/** What every viewer is given, and what it gives back. */

import type { Component } from "svelte";
import type { Place, Theme } from "@shared/protocol.ts";

/** How one file is shown, as the server says it: docs/reference/viewing.md. Every text in it may be the agent's own. */
export interface View {
  kind: string;
  badge: string;
  /** Artefact name -> URL path on the content origin. */
  files: Record<string, string>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  meta: Record<string, any>;
  problem: string;
  /** When it was answered, in microseconds since 1970. */
  at: number;
  inspectable: boolean;
}

export type Report = Record<string, number | string | boolean>;

/** An answer that is no success, with the server's words where it has some. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    what: string,
  ) {
    super(what);
  }
}

/** One file in one pane. `theme` is reactive; `signal` ends what is under way when another file is asked for. */
export class Context {
  theme = $state<Theme>("light");
  readonly ended = new AbortController();

  constructor(
    readonly content: string,
    readonly path: string[],
    readonly view: View,
    theme: Theme,
  ) {
    this.theme = theme;
  }

  get signal(): AbortSignal {
    return this.ended.signal;
  }

  has(name: string): boolean {
    return name in this.view.files;
  }

  /** The address of an artefact. Throws Refused for one that the view lacks. */
  url(name: string): string {
    const path = this.view.files[name];
    if (path === undefined) throw new Refused(404, `The view has no ${name}.`);
    return this.content + path;
  }

  /** An artefact's bytes; throws Refused for any answer but success. */
  async load(name: string, init: RequestInit = {}): Promise<Response> {
    return this.fetch(this.url(name), init);
  }

  async json<T>(name: string): Promise<T> {
    return (await (await this.load(name)).json()) as T;
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const answer = await fetch(url, { signal: this.signal, credentials: "omit", ...init });
    if (!answer.ok) throw new Refused(answer.status, await words(answer));
    return answer;
  }

  /** The address of this file as it was delivered, or of another one of the folder. */
  original(path: string[] = this.path, download = false): string {
    return `${address(this.content, "original", path)}${download ? "&download=1" : ""}`;
  }

  /** The address of a file that this one refers to as `name`, if it is there. */
  beside(name: string): string | undefined {
    const near: unknown = this.view.meta.beside?.[name];
    return typeof near === "string" ? this.original([...this.path.slice(0, -1), near]) : undefined;
  }

  /** The address of a small page of the content origin: for markup that is not ours. */
  page(name: string, more: Record<string, string | number> = {}): string {
    const extra = new URLSearchParams({ name, theme: this.theme });
    for (const [key, value] of Object.entries(more)) extra.set(key, String(value));
    return `${address(this.content, "page", this.path)}&${extra}`;
  }
}

export interface Props {
  ctx: Context;
  /** The first useful picture stands: facts that prove it. May be called again with more. */
  shown: (report: Report) => void;
  /** Where the person is now, for panes that follow each other. */
  moved: (place: Place) => void;
  /** Nothing can be shown after all: the frame puts a card with the reason and the original. */
  fail: (what: string) => void;
  /** Still at work: says so and gives more time. */
  progress: (what: string) => void;
  /** Something small is wrong while the rest can be seen: a line below the bar. */
  aside: (what: string) => void;
  /** A file inside this one was chosen. */
  open: (path: string[]) => void;
}

/** What a viewer may export besides; `bind:this` gives them to the frame. */
export interface Exports {
  sync?: (place: Place) => void;
  find?: () => void;
}

export type Loader = () => Promise<{ default: Component<Props, Exports> }>;
/** Kind of view -> the component that shows it, each a chunk of its own. */
export type Kinds = Record<string, Loader>;

export function address(content: string, what: string, path: string[]): string {
  const query = new URLSearchParams();
  for (const step of path) query.append("path", step);
  return `${content}/.worksample/${what}?${query}`;
}

/** What a refusal says, in the server's words if they are short. */
export async function words(answer: Response): Promise<string> {
  const text = await answer.text().catch(() => "");
  try {
    const what: unknown = JSON.parse(text)?.error?.what;
    if (typeof what === "string") return what;
  } catch {
    // Not JSON: the status has to do.
  }
  return `The server answered ${answer.status}${answer.statusText ? ` (${answer.statusText})` : ""}.`;
}
