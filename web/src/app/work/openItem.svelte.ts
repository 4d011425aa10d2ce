/** State of an item on the work screen: panes, answers, draft and time. Components read it, keys change it. */
import type { Place } from "@shared/protocol.ts";
import { api, ask, type Schemas } from "../api.ts";
import { Failure } from "../failure.ts";
import { Active } from "./workingTime.ts";
import { Arrangement, type Looking } from "./arrangement.svelte.ts";
import { Asked } from "./questions.ts";
import { Draft, textOf, tidy, type Payload, type Phase, type Saved } from "./draft.ts";
import { firstMet } from "./notes.ts";
import type { Pane } from "./pane.svelte.ts";
import { readShelf, writeShelf } from "./localDrafts.ts";

export type Item = Schemas["ItemView"];
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

export class Bench implements Looking {
  readonly item: Item;
  readonly stand: Arrangement;
  readonly asked: Asked;
  /** Whether the item is on the screen; another one may be loaded behind it. */
  current = $state(false);
  payload: Payload = $state.raw({});
  phase: Phase = $state("clean");
  saved = $state(0);
  theirs: Saved | undefined = $state.raw(undefined);
  trouble: Failure | undefined = $state.raw(undefined);
  shelved = $state(true);
  /** Seconds of work, reported or not. */
  worked = $state(0);
  faults: Readonly<Record<string, string>> = $state.raw({});
  busy = $state(false);
  /** Whether the notes on this item were opened. */
  noted = $state(false);
  /** Index of the criterion that keys act on, among the leaves. */
  at = $state(0);

  readonly #draft: Draft;
  readonly #active: Active;
  readonly #key = newKey();
  readonly #account: string;
  readonly #noted = new Set<string>();

  constructor(item: Item, account: string) {
    this.item = item;
    this.#account = account;
    this.stand = new Arrangement(item.shown, item.seen);
    this.asked = new Asked(item);
    this.#active = new Active(
      () => performance.now(),
      () => this.current && document.visibilityState === "visible",
    );
    this.#draft = new Draft(this.#ports(), item.draft, readShelf(account, item.id));
    this.#mirror();
  }

  #ports(): ConstructorParameters<typeof Draft>[0] {
    const path = { path: { id: this.item.id } };
    return {
      put: (body, last) =>
        ask(api.PUT("/api/v1/items/{id}/draft", { params: path, body, keepalive: last })) as Promise<Saved>,
      look: async () => {
        const now = await ask(api.GET("/api/v1/items/{id}", { params: path }));
        return { state: now.state, draft: now.draft as Saved | null };
      },
      keep: (kept) => (this.shelved = writeShelf(this.#account, this.item.id, kept)),
      later: (milliseconds, act) => {
        const timer = setTimeout(act, milliseconds);
        return () => clearTimeout(timer);
      },
      take: () => this.#active.take(),
      back: (seconds) => this.#active.back(seconds),
      pending: () => this.#active.pending,
      changed: () => this.#mirror(),
    };
  }

  /** Reactive copy of the draft's state; the draft itself works without a screen. */
  #mirror(): void {
    const draft = this.#draft;
    // The draft calls back during its construction, too.
    if (!draft) return;
    this.payload = draft.payload;
    this.phase = draft.phase;
    this.saved = draft.saved;
    this.theirs = draft.theirs;
    this.trouble = draft.trouble;
    this.worked = draft.seconds + this.#active.pending;
  }

  moved(pane: Pane, place: Place): void {
    this.stand.follow(pane, place);
  }

  /** Report opened files to the server; the tick shows at once. */
  async note(pane: Pane): Promise<void> {
    const path = pane.current;
    const key = `${pane.label}\0${path}`;
    if (!path || pane.seen.has(path) || this.#noted.has(key) || !this.current || !this.stand.visible(pane)) return;
    this.#noted.add(key);
    pane.seen.add(path);
    try {
      const body = { pane: pane.label, path };
      await ask(api.POST("/api/v1/items/{id}/seen", { params: { path: { id: this.item.id } }, body }));
    } catch (thrown) {
      // Ignore failures; the report is sent again if the file is opened again.
      if (!(thrown instanceof Failure)) throw thrown;
      this.#noted.delete(key);
      if (thrown.passing) pane.seen.delete(path);
    }
  }

  /** Whether the notes open by themselves: only with the first item of a round. */
  greets(): boolean {
    const { notes_html, round, instructions, draft, seen } = this.item;
    return notes_html !== "" && firstMet(localStorage, this.#account, round, instructions) && !draft && seen.length === 0;
  }

  /** Whether a deliverable has a file that its viewer could not show in full. */
  get poor(): boolean {
    return this.stand.judged.some((pane) => pane.poor.size > 0);
  }

  // -- answers

  answer(name: string, value: unknown): void {
    if (this.phase === "closed" || this.phase === "lost") return;
    this.touch();
    const { [name]: _, ...faults } = this.faults;
    this.faults = faults;
    this.#draft.edit(this.asked.answered(this.payload, name, value));
  }

  mark(criterion: string, name: "marks" | "feedback", value: string): void {
    const { [criterion]: _, ...faults } = this.faults;
    this.faults = faults;
    this.answer(name, { ...((this.payload[name] as Payload | undefined) ?? {}), [criterion]: value });
  }

  touch(): void {
    this.#active.touch();
  }

  /** Each second. */
  tick(): void {
    this.#active.tick();
    this.worked = this.#draft.seconds + this.#active.pending;
  }

  async flush(): Promise<void> {
    await this.#draft.flush();
  }

  leave(): void {
    this.#draft.leave();
  }

  shelve(): void {
    this.#draft.shelve();
  }

  async resolve(which: "mine" | "theirs"): Promise<void> {
    await this.#draft.resolve(which);
  }

  /** Renew the lease, and report time if there is any. */
  async beat(): Promise<void> {
    if (this.phase === "lost" || this.phase === "closed" || this.phase === "conflict" || this.busy) return;
    if (this.#active.pending >= 20) return this.#draft.flush(true);
    try {
      await ask(api.POST("/api/v1/items/{id}/heartbeat", { params: { path: { id: this.item.id } } }));
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      if ([403, 404, 409].includes(thrown.status)) this.#draft.lose(thrown);
    }
  }

  /** Hand the answer in; false if something is missing or failed, with `faults` or `trouble` set. */
  async submit(): Promise<boolean> {
    this.faults = this.asked.missing(this.payload, this.poor);
    if (Object.keys(this.faults).length > 0 || this.busy) return false;
    this.busy = true;
    try {
      await this.#draft.flush();
      if (this.#draft.phase === "conflict" || this.#draft.phase === "lost") return false;
      return await this.#send();
    } finally {
      this.busy = false;
      this.#mirror();
    }
  }

  async #send(): Promise<boolean> {
    const seconds = this.#active.take();
    try {
      const body = { payload: tidy(this.payload) as Item["draft"] & object, key: this.#key, active_seconds: seconds };
      const sent = { params: { path: { id: this.item.id } }, body: body as never };
      await ask(api.POST("/api/v1/items/{id}/submit", sent));
    } catch (thrown) {
      this.#active.back(seconds);
      if (!(thrown instanceof Failure)) throw thrown;
      this.faults = thrown.faults;
      if (thrown.status === 409 && (await this.#isIn())) return this.#closed();
      if (thrown.status === 409 || thrown.status === 404) this.#draft.lose(thrown);
      else if (Object.keys(thrown.faults).length === 0) throw thrown;
      return false;
    }
    return this.#closed();
  }

  #closed(): true {
    this.#draft.close();
    return true;
  }

  /** Handed in already, from another window or by a request whose response was lost. That answer stands. */
  async #isIn(): Promise<boolean> {
    const now = await ask(api.GET("/api/v1/items/{id}", { params: { path: { id: this.item.id } } }));
    return now.state === "done";
  }

  /** Skip the item. Throws Failure. */
  async skip(reason: string): Promise<void> {
    await ask(api.POST("/api/v1/items/{id}/skip", { params: { path: { id: this.item.id } }, body: { reason } }));
    this.#draft.close();
  }

  async flag(kind: string, text: string): Promise<void> {
    await ask(api.POST("/api/v1/items/{id}/flag", { params: { path: { id: this.item.id } }, body: { kind, text } }));
  }

  /** Whether the item has no answer yet. */
  get untouched(): boolean {
    return this.phase === "clean" && textOf(this.payload) === textOf({});
  }

  /** Give the item back unanswered. */
  async release(): Promise<void> {
    const sent = { params: { path: { id: this.item.id } }, keepalive: true };
    await ask(api.POST("/api/v1/items/{id}/release", sent));
  }
}
