/** The visible panes, the focused one, and the pairing of their files. */
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import type { Place } from "@shared/protocol.ts";
import { desk, narrowed } from "./layout.svelte.ts";
import { pairsOf } from "./filePairing.ts";
import { Pane } from "./pane.svelte.ts";
import { depthOf } from "./tree.ts";

const MOST_BESIDE = 3;
/** Panes for reading only, which are not judged. */
const BACKGROUND = new Set(["Inputs", "Trajectory"]);

type Shown = ConstructorParameters<typeof Pane>;

/** Callbacks from panes to the person's session: one that judges, or one that only reads. */
export interface Looking {
  readonly stand: Arrangement;
  /** Whether the item is on the screen, and not just loaded ahead. */
  readonly current: boolean;
  /** Report activity of the person. */
  touch(): void;
  /** The person moved in a pane. */
  moved(pane: Pane, place: Place): void;
  /** The pane's viewer shows its file. */
  note(pane: Pane): Promise<void>;
}

/** A session that only reads: no time and no views are recorded. */
export class Reading implements Looking {
  readonly stand: Arrangement;
  readonly current = true;
  constructor(shown: readonly Shown[0][]) {
    this.stand = new Arrangement(shown, []);
  }
  touch(): void {}
  moved(pane: Pane, place: Place): void {
    this.stand.follow(pane, place);
  }
  async note(): Promise<void> {}
}

export class Arrangement {
  readonly panes: readonly Pane[];
  focus: Pane | undefined = $state.raw(undefined);
  /** Each item begins with panes side by side, in the recorded order. */
  layout: "side" | "flip" = $state("side");
  readonly #beside = new SvelteSet<string>();
  #front = $state("");
  readonly #pairs = new SvelteMap<string, ReadonlyMap<string, string>>();

  constructor(shown: readonly Shown[0][], seen: Shown[1]) {
    this.panes = shown.map((one) => new Pane(one, seen));
    const sides = this.sides;
    for (const pane of sides.slice(0, MOST_BESIDE)) this.#beside.add(pane.label);
    for (const pane of sides) pane.wanted = pane.content !== null;
    this.focus = sides.find((pane) => pane.label !== "Reference" && pane.content) ?? sides[0] ?? this.panes[0];
    this.#front = (sides[0] ?? this.panes[0])?.label ?? "";
  }

  get sides(): readonly Pane[] {
    return this.panes.filter((pane) => !BACKGROUND.has(pane.label));
  }

  /** The judged panes, without the reference and supporting material. */
  get judged(): readonly Pane[] {
    return this.sides.filter((pane) => pane.label !== "Reference");
  }

  async load(): Promise<void> {
    await Promise.all(this.panes.filter((pane) => pane.wanted).map((pane) => pane.load()));
    this.#pair();
    this.#begin();
  }

  async reload(pane: Pane): Promise<void> {
    await pane.load();
    this.#pair();
    this.#begin();
  }

  #pair(): void {
    const paths = (pane: Pane) => pane.files.map((file) => file.path);
    for (const a of this.panes) {
      for (const b of this.panes) {
        if (a === b || a.state !== "there" || b.state !== "there") continue;
        const key = `${a.label}\0${b.label}`;
        if (!this.#pairs.has(key)) this.#pairs.set(key, pairsOf(paths(a), paths(b)));
      }
    }
  }

  /** Open files that all panes have; otherwise the first file of each. */
  #begin(): void {
    const [one, ...others] = this.panes.filter((pane) => pane.state === "there" && pane.path.length === 0);
    if (!one) return;
    const paths = one.files.map((file) => file.path).sort((a, b) => depthOf(a) - depthOf(b));
    const shared = others.length
      ? paths.find((path) => others.every((pane) => this.partner(one, path, pane) !== undefined))
      : undefined;
    for (const pane of [one, ...others]) {
      const same = shared === undefined || pane === one ? shared : this.partner(one, shared, pane);
      const first = same ?? pane.first;
      if (first !== undefined) pane.show([first]);
    }
  }

  /** The file of `b` that is paired with a file of `a`. */
  partner(a: Pane, path: string, b: Pane): string | undefined {
    return this.#pairs.get(`${a.label}\0${b.label}`)?.get(path);
  }

  /** Labels of panes that have a file paired with this one. */
  partners(a: Pane, path: string): string[] {
    return this.panes.filter((b) => b !== a && this.partner(a, path, b) !== undefined).map((b) => b.label);
  }

  /** Open a file; if panes are linked, open the paired files in the others, too. */
  open(pane: Pane, path: string): void {
    this.focus = pane;
    pane.show([path]);
    if (desk.sync) this.match();
  }

  /** Open the files paired with the focused pane's file in all visible panes; return how many. */
  match(): number {
    const from = this.focus;
    let opened = 0;
    for (const pane of this.panes) {
      const same = from && pane !== from && this.visible(pane) ? this.partner(from, from.current, pane) : undefined;
      if (same === undefined) continue;
      pane.show([same], from?.place);
      opened++;
    }
    return opened;
  }

  /** The person moved in a pane; the others follow if panes are linked. */
  follow(pane: Pane, place: Place): void {
    if (!desk.sync) return;
    for (const other of this.panes) if (other !== pane && this.visible(other)) other.stand(place);
  }

  /** One pane at a time. */
  get flipping(): boolean {
    return narrowed() || this.layout === "flip";
  }

  visible(pane: Pane): boolean {
    return this.flipping ? this.#front === pane.label : this.#beside.has(pane.label);
  }

  /** Show or hide a pane, or bring it to the front. */
  async toggle(pane: Pane): Promise<void> {
    const load = !pane.wanted && pane.content !== null;
    if (this.flipping) this.#turn(pane);
    else if (!this.#beside.has(pane.label)) this.#put(pane);
    else if (this.#beside.size > 1) {
      this.#beside.delete(pane.label);
      if (this.focus === pane) this.focus = this.panes.find((other) => this.#beside.has(other.label));
    }
    if (!load) return;
    pane.wanted = true;
    await this.reload(pane);
  }

  #put(pane: Pane): void {
    if (this.#beside.size >= MOST_BESIDE) {
      const last = [...this.panes].reverse().find((other) => this.#beside.has(other.label));
      if (last) this.#beside.delete(last.label);
    }
    this.#beside.add(pane.label);
    this.focus = pane;
  }

  setLayout(layout: "side" | "flip"): void {
    this.layout = layout;
    if (layout === "flip" && this.focus) this.#front = this.focus.label;
  }

  /** Show the same file and position in the other pane. */
  flip(): void {
    const sides = this.sides;
    const from = sides.findIndex((pane) => pane.label === this.#front);
    const next = sides[(from + 1) % sides.length];
    if (next) this.#turn(next);
  }

  #turn(next: Pane): void {
    const from = this.panes.find((pane) => pane.label === this.#front);
    const same = from && from !== next ? this.partner(from, from.current, next) : undefined;
    if (same !== undefined && from) next.show([same, ...from.path.slice(1)], from.place);
    this.#front = next.label;
    this.focus = next;
  }

  nextPane(): void {
    const shown = this.panes.filter((pane) => this.visible(pane));
    const at = shown.findIndex((pane) => pane === this.focus);
    this.focus = shown[(at + 1) % shown.length] ?? this.focus;
  }
}
