/** One deliverable on the screen: its files, which of them is shown, and what its viewer says. */
import type { FromViewer, Place, Shown, Theme, ToViewer } from "@shared/protocol.ts";
import { SvelteSet } from "svelte/reactivity";
import { depthOf, filesOf, firstOpen, parentOf, rowsOf, treeOf, type Entry, type Node, type Row } from "./tree.ts";

/** A pane that was just told where to stand says so itself; that is an echo for so long. */
const ECHO = 400;

export class Pane {
  readonly label: string;
  readonly note: string;
  /** Origin of its files; null where nothing was delivered. */
  readonly content: string | null;

  state: "none" | "loading" | "there" | "failed" = $state("loading");
  root: Node = $state.raw(treeOf([]));
  files: readonly Node[] = $state.raw([]);
  open = new SvelteSet<string>();
  filter = $state("");
  rows: Row[] = $derived(rowsOf(this.root, this.open, this.filter));
  seen = new SvelteSet<string>();
  /** What is shown: a path, and further ones within archives. */
  path: readonly string[] = $state.raw([]);
  shown: Shown | undefined = $state.raw(undefined);
  /** Paths whose viewer said that they cannot be seen in full. */
  poor = new SvelteSet<string>();
  /** A frame is made when the pane is first looked at. */
  wanted = $state(false);
  place: Place | undefined;

  #post: ((message: ToViewer) => void) | undefined;
  #ready = false;
  #told = "";
  #theme: Theme = "light";
  #quiet = 0;
  #goTo: Place | undefined;

  constructor(shown: { label: string; note: string; content: string | null }, seen: readonly (readonly string[])[]) {
    this.label = shown.label;
    this.note = shown.note;
    this.content = shown.content;
    if (!shown.content) this.state = "none";
    for (const [label, path] of seen) if (label === this.label && path !== undefined) this.seen.add(path);
  }

  /** Fetch the list of files. */
  async load(): Promise<void> {
    if (!this.content) return;
    this.state = "loading";
    try {
      const got = await fetch(`${this.content}/.worksample/files`, { credentials: "omit" });
      if (!got.ok) throw new TypeError(`files: ${got.status}`);
      const { entries } = (await got.json()) as { entries: Entry[] };
      this.root = treeOf(entries);
      this.files = filesOf(this.root);
      for (const path of firstOpen(this.root)) this.open.add(path);
      this.state = "there";
    } catch (thrown) {
      if (!(thrown instanceof TypeError || thrown instanceof SyntaxError)) throw thrown;
      this.state = "failed";
    }
  }

  /** The file to begin with: the first of those that lie highest. */
  get first(): string | undefined {
    const named = this.files.filter((file) => !file.name.startsWith("."));
    return (named.length > 0 ? named : this.files).map((file) => file.path).sort((a, b) => depthOf(a) - depthOf(b))[0];
  }

  /** The file in the tree that is shown, or that holds what is shown. */
  get current(): string {
    return this.path[0] ?? "";
  }

  /** `place`: where to stand once it is shown. */
  show(path: readonly string[], place?: Place): void {
    this.#goTo = place;
    if (path.join("\0") === this.path.join("\0") && this.shown) {
      if (place) this.stand(place);
      this.#goTo = undefined;
      return;
    }
    this.path = [...path];
    for (let up = parentOf(this.current); up; up = parentOf(up)) this.open.add(up);
    this.shown = undefined;
    this.place = undefined;
    this.#tell();
  }

  /** The frame is there and can be spoken to. */
  attach(post: (message: ToViewer) => void): void {
    this.#post = post;
  }

  detach(): void {
    this.#post = undefined;
    this.#ready = false;
    this.#told = "";
    this.shown = undefined;
  }

  wear(theme: Theme): void {
    this.#theme = theme;
    if (this.#ready) this.#post?.({ ws: 1, type: "theme", theme });
  }

  #tell(): void {
    const path = [...this.path];
    if (!this.#ready || !this.content || path.length === 0 || this.#told === path.join("\0")) return;
    this.#told = path.join("\0");
    this.#post?.({ ws: 1, type: "show", content: this.content, path, theme: this.#theme, pane: this.label });
  }

  /** Stand where another pane stands, where both show the same kind of thing. */
  stand(place: Place): void {
    if (!this.#ready || this.shown?.kind !== place.kind) return;
    this.#quiet = performance.now() + ECHO;
    this.#post?.({ ws: 1, type: "sync", state: place });
  }

  /** What the viewer said; a place is handed on where somebody moved in this very pane. */
  hear(said: FromViewer): Place | undefined {
    switch (said.type) {
      case "ready":
        this.#ready = true;
        this.#told = "";
        this.#tell();
        break;
      case "shown":
        // A slow answer about a file that was left since says nothing about the one that is there now.
        if (said.path.join("\0") !== this.path.join("\0")) break;
        this.shown = said;
        if (!said.inspectable) this.poor.add(said.path.join("\0"));
        if (this.#goTo) this.stand(this.#goTo);
        this.#goTo = undefined;
        break;
      case "state":
        this.place = said.state;
        return performance.now() > this.#quiet ? said.state : undefined;
      case "open":
        this.show(said.path);
        break;
      default:
    }
    return undefined;
  }

  /** The file `by` places further among those that the filter leaves. */
  next(by: 1 | -1): string | undefined {
    const shown = this.filter ? this.rows.map((row) => row.node).filter((node) => !node.folder) : this.files;
    const at = shown.findIndex((file) => file.path === this.current);
    return shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))]?.path;
  }
}
