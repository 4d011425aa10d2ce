/** A deliverable on the screen: its files, the shown one, and messages of its viewer. */
import type { FromViewer, Place, Shown, Theme, ToViewer } from "@shared/protocol.ts";
import { SvelteSet } from "svelte/reactivity";
import { depthOf, filesOf, firstOpen, parentOf, rowsOf, treeOf, type Entry, type Node, type Row } from "./tree.ts";

/** For this long after a pane was moved, its own position messages are echoes. */
const ECHO = 400;

export class Pane {
  readonly label: string;
  readonly note: string;
  /** Origin of its files; null if nothing was delivered. */
  readonly content: string | null;

  state: "none" | "loading" | "there" | "failed" = $state("loading");
  root: Node = $state.raw(treeOf([]));
  files: readonly Node[] = $state.raw([]);
  open = new SvelteSet<string>();
  filter = $state("");
  rows: Row[] = $derived(rowsOf(this.root, this.open, this.filter));
  seen = new SvelteSet<string>();
  /** The shown file: a path, and further paths within archives. */
  path: readonly string[] = $state.raw([]);
  shown: Shown | undefined = $state.raw(undefined);
  /** Paths that the viewer could not show in full. */
  poor = new SvelteSet<string>();
  /** The frame is created when the pane is first visible. */
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

  /** The file to show first: the first one in the topmost folder. */
  get first(): string | undefined {
    const named = this.files.filter((file) => !file.name.startsWith("."));
    return (named.length > 0 ? named : this.files).map((file) => file.path).sort((a, b) => depthOf(a) - depthOf(b))[0];
  }

  /** The shown file in the tree, or the archive that contains it. */
  get current(): string {
    return this.path[0] ?? "";
  }

  /** `place`: the position to restore once shown. */
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

  /** The frame is loaded and accepts messages. */
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

  /** Move to another pane's position if both show the same kind of view. */
  stand(place: Place): void {
    if (!this.#ready || this.shown?.kind !== place.kind) return;
    this.#quiet = performance.now() + ECHO;
    this.#post?.({ ws: 1, type: "sync", state: place });
  }

  /** Handle a message of the viewer; a position is passed on only if the person moved in this pane. */
  hear(said: FromViewer): Place | undefined {
    switch (said.type) {
      case "ready":
        this.#ready = true;
        this.#told = "";
        this.#tell();
        break;
      case "shown":
        // Ignore late messages about a file that is no longer shown.
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

  /** The file `by` places further in the filtered list. */
  next(by: 1 | -1): string | undefined {
    const shown = this.filter ? this.rows.map((row) => row.node).filter((node) => !node.folder) : this.files;
    const at = shown.findIndex((file) => file.path === this.current);
    return shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))]?.path;
  }
}
