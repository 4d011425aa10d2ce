/** The interface between the frame and every viewer. */

import type { Component } from "svelte";
import type { Place, Theme } from "@shared/protocol.ts";

/** The server's view of a file: docs/reference/viewing.md. Any text in it may be written by the agent. */
export interface View {
  kind: string;
  badge: string;
  /** Artefact name -> URL path on the content origin. */
  files: Record<string, string>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  meta: Record<string, any>;
  problem: string;
  /** Time of the response, in microseconds since 1970. */
  at: number;
  inspectable: boolean;
}

export type Report = Record<string, number | string | boolean>;

/** A refused request, with the server's message if it has one. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    what: string,
  ) {
    super(what);
  }
}

/** A file in a pane. `theme` is reactive; `signal` aborts pending work if another file is requested. */
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

  /** Return the address of an artefact. Throws Refused if the view lacks it. */
  url(name: string): string {
    const path = this.view.files[name];
    if (path === undefined) throw new Refused(404, `The view has no ${name}.`);
    return this.content + path;
  }

  /** Fetch an artefact's bytes. Throws Refused if the request fails. */
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

  /** Return the address of this file as delivered, or of another one in the folder. */
  original(path: string[] = this.path, download = false): string {
    return `${address(this.content, "original", path)}${download ? "&download=1" : ""}`;
  }

  /** Return the address of a file that this one refers to as `name`, if it exists. */
  beside(name: string): string | undefined {
    const near: unknown = this.view.meta.beside?.[name];
    return typeof near === "string" ? this.original([...this.path.slice(0, -1), near]) : undefined;
  }

  /** Return the address of a small page on the content origin, for markup that is not ours. */
  page(name: string, more: Record<string, string | number> = {}): string {
    const extra = new URLSearchParams({ name, theme: this.theme });
    for (const [key, value] of Object.entries(more)) extra.set(key, String(value));
    return `${address(this.content, "page", this.path)}&${extra}`;
  }
}

export interface Props {
  ctx: Context;
  /** Report that the first useful picture is shown, with facts that prove it. May be called again with more. */
  shown: (report: Report) => void;
  /** Report the person's position, for panes that follow each other. */
  moved: (place: Place) => void;
  /** Report that nothing can be shown: the frame shows a card with the reason and the original. */
  fail: (what: string) => void;
  /** Report progress, which extends the time limit. */
  progress: (what: string) => void;
  /** Show a partial failure in a line below the bar. */
  aside: (what: string) => void;
  /** Open a file inside this one. */
  open: (path: string[]) => void;
}

/** Optional functions of a viewer; the frame gets them by `bind:this`. */
export interface Exports {
  sync?: (place: Place) => void;
  find?: () => void;
}

export type Loader = () => Promise<{ default: Component<Props, Exports> }>;
/** Kind of view -> its component, each in a separate chunk. */
export type Kinds = Record<string, Loader>;

export function address(content: string, what: string, path: string[]): string {
  const query = new URLSearchParams();
  for (const step of path) query.append("path", step);
  return `${content}/.worksample/${what}?${query}`;
}

/** Describe a refusal, in the server's words if they are short. */
export async function words(answer: Response): Promise<string> {
  const text = await answer.text().catch(() => "");
  try {
    const what: unknown = JSON.parse(text)?.error?.what;
    if (typeof what === "string") return what;
  } catch {
    // Not JSON: use the status.
  }
  return `The server answered ${answer.status}${answer.statusText ? ` (${answer.statusText})` : ""}.`;
}
