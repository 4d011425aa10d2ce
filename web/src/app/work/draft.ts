/** A draft answer: saved while the person writes, kept here until the server confirms it, never overwritten
 * without asking. Independent of the browser: clock, connection and local storage are passed in. */
import { Failure } from "../failure.ts";

export type Payload = Record<string, unknown>;

/** A draft as the server has it. */
export interface Saved {
  revision: number;
  payload: Payload;
  saved: number;
  active_seconds: number;
}

/** A draft in this browser's storage that the server has not confirmed. */
export interface Kept {
  payload: Payload;
  /** The revision on which it is based. */
  base: number;
  /** Seconds of work not yet reported to the server. */
  seconds: number;
}

export interface Ports {
  put(body: { revision: number; payload: Payload; active_seconds: number }, last: boolean): Promise<Saved>;
  /** Fetch the item's current state and draft. */
  look(): Promise<{ state: string; draft: Saved | null }>;
  keep(kept: Kept | null): void;
  /** Schedule an action; returns a function that cancels it. */
  later(milliseconds: number, act: () => void): () => void;
  /** Seconds of work to report; `back` returns them if reporting fails. */
  take(): number;
  back(seconds: number): void;
  pending(): number;
  changed(): void;
}

/** clean: saved. dirty: about to be saved. waiting: no connection, will retry. conflict: another window
 * also wrote. lost: the item was given to others. closed: handed in. */
export type Phase = "clean" | "dirty" | "saving" | "waiting" | "conflict" | "lost" | "closed";

export const PAUSE = 1000;
export const BACKOFF = [2000, 4000, 8000, 15_000, 30_000] as const;

/** A canonical text of a payload, independent of key order and without empty answers. */
export function textOf(payload: Payload): string {
  return JSON.stringify(tidy(payload));
}

export function tidy(payload: Payload): Payload {
  const kept = Object.entries(payload).filter(
    ([, value]) => value !== undefined && value !== null && value !== "" && !(isTable(value) && !Object.keys(value).length),
  );
  kept.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept.map(([name, value]) => [name, isTable(value) ? tidy(value) : value]));
}

const isTable = (value: unknown): value is Payload =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export class Draft {
  payload: Payload;
  phase: Phase = "clean";
  /** Time of the server's draft in microseconds since 1970; 0 for none. */
  saved: number;
  /** Seconds of work as counted by the server. */
  seconds: number;
  /** In a conflict, the other window's draft. */
  theirs: Saved | undefined;
  /** Why the draft waits or was lost. */
  trouble: Failure | undefined;

  #revision: number;
  #confirmed: string;
  #flight: Promise<void> | undefined;
  #timer: (() => void) | undefined;
  #failed = 0;
  /** Payloads sent without a response; the server may have saved one of them. */
  #unheard = new Set<string>();

  constructor(
    private readonly ports: Ports,
    server: Saved | null,
    kept: Kept | null,
  ) {
    this.#revision = server?.revision ?? 0;
    this.payload = server?.payload ?? {};
    this.saved = server?.saved ?? 0;
    this.seconds = server?.active_seconds ?? 0;
    this.#confirmed = textOf(this.payload);
    if (kept) this.#recover(kept, server);
  }

  #recover(kept: Kept, server: Saved | null): void {
    this.ports.back(kept.seconds);
    if (textOf(kept.payload) === this.#confirmed) {
      this.ports.keep(null);
      return;
    }
    this.payload = kept.payload;
    if (server && kept.base < server.revision) this.#collide(server);
    else this.#schedule(PAUSE);
  }

  get dirty(): boolean {
    return textOf(this.payload) !== this.#confirmed;
  }

  get over(): boolean {
    return this.phase === "lost" || this.phase === "closed";
  }

  /** Change the answer. */
  edit(payload: Payload): void {
    if (this.over) return;
    this.payload = payload;
    this.shelve();
    if (this.phase === "clean" || this.phase === "dirty") this.#schedule(PAUSE);
    this.ports.changed();
  }

  /** Store the unsaved draft and unreported time in local storage. */
  shelve(): void {
    if (this.phase === "closed") return;
    const kept = { payload: this.payload, base: this.#revision, seconds: this.ports.pending() };
    this.ports.keep(this.dirty || kept.seconds >= 1 ? kept : null);
  }

  #schedule(milliseconds: number, phase: Phase = "dirty"): void {
    this.#timer?.();
    this.phase = phase;
    this.#timer = this.ports.later(milliseconds, () => void this.flush());
  }

  /** Save unsaved changes now. `evenso`: report time although nothing was written. */
  async flush(evenso = false): Promise<void> {
    if (this.#flight) await this.#flight;
    if (this.over || this.phase === "conflict" || !(this.dirty || evenso)) {
      // The change was undone before it was saved.
      if (this.phase === "dirty" && !this.dirty) this.#settle("clean");
      return;
    }
    this.#flight ??= this.#send().finally(() => (this.#flight = undefined));
    await this.#flight;
  }

  async #send(): Promise<void> {
    this.#timer?.();
    const [text, payload, seconds] = [textOf(this.payload), tidy(this.payload), this.ports.take()];
    this.#settle("saving");
    try {
      this.#take(await this.ports.put({ revision: this.#revision, payload, active_seconds: seconds }, false), text);
    } catch (thrown) {
      this.ports.back(seconds);
      if (!(thrown instanceof Failure)) throw thrown;
      if (thrown.status !== 409) this.#unheard.add(text);
      await this.#fail(thrown);
    }
  }

  #take(saved: Saved, text: string): void {
    this.#revision = saved.revision;
    this.#confirmed = text;
    this.saved = saved.saved;
    this.seconds = saved.active_seconds;
    this.#failed = 0;
    this.#unheard.clear();
    this.trouble = undefined;
    if (this.phase === "closed") return;
    if (this.dirty) this.#schedule(PAUSE);
    else this.phase = "clean";
    this.shelve();
    this.ports.changed();
  }

  async #fail(failure: Failure): Promise<void> {
    this.trouble = failure;
    if (failure.status === 409) return this.#compare();
    if (failure.status === 404 || failure.status === 403) return this.#settle("lost");
    const wait = BACKOFF[Math.min(this.#failed++, BACKOFF.length - 1)] ?? 30_000;
    this.#schedule(Math.max(wait, failure.after * 1000), "waiting");
    this.ports.changed();
  }

  /** Find out whether the server has another revision, or the item was given to others. */
  async #compare(): Promise<void> {
    let now: Awaited<ReturnType<Ports["look"]>>;
    try {
      now = await this.ports.look();
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      this.#schedule(BACKOFF[0], "waiting");
      return this.ports.changed();
    }
    const theirs = now.draft;
    if (now.state !== "leased" || !theirs || theirs.revision === this.#revision) return this.#settle("lost");
    // Without changes in this window, take the server's draft.
    if (!this.dirty) this.payload = theirs.payload;
    const text = textOf(theirs.payload);
    if (text === textOf(this.payload) || this.#unheard.has(text)) this.#take(theirs, text);
    else this.#collide(theirs);
  }

  #collide(theirs: Saved): void {
    this.#timer?.();
    this.theirs = theirs;
    this.#settle("conflict");
  }

  #settle(phase: Phase): void {
    this.phase = phase;
    this.ports.changed();
  }

  /** End a conflict with this window's draft, or with the other's. */
  async resolve(which: "mine" | "theirs"): Promise<void> {
    const theirs = this.theirs;
    if (!theirs) return;
    this.theirs = undefined;
    this.#revision = theirs.revision;
    this.#confirmed = textOf(theirs.payload);
    this.saved = theirs.saved;
    this.seconds = theirs.active_seconds;
    this.trouble = undefined;
    if (which === "theirs") this.payload = theirs.payload;
    this.phase = "clean";
    this.shelve();
    this.ports.changed();
    await this.flush();
  }

  /** The page is being left: send once more without waiting, and keep the draft in local storage. */
  leave(): void {
    if (this.over || this.phase === "conflict") return;
    this.shelve();
    if (!this.dirty || this.#flight) return;
    const [text, payload, seconds] = [textOf(this.payload), tidy(this.payload), this.ports.take()];
    const body = { revision: this.#revision, payload, active_seconds: seconds };
    // The page may return from the back-forward cache, so the response still matters.
    this.#flight = this.ports
      .put(body, true)
      .then((saved) => this.#take(saved, text))
      .catch(() => {
        this.#unheard.add(text);
        this.ports.back(seconds);
      })
      .finally(() => (this.#flight = undefined));
  }

  /** The item was handed in or skipped. */
  close(): void {
    this.#timer?.();
    this.ports.keep(null);
    this.#settle("closed");
  }

  /** The item was given to others; the draft stays in local storage. */
  lose(failure: Failure): void {
    if (this.over) return;
    this.#timer?.();
    this.trouble = failure;
    this.shelve();
    this.#settle("lost");
  }
}
