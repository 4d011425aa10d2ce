/** Time of work: while the page is visible and the person was active within the last minute. */
export const IDLE_AFTER = 60_000;
/** A longer gap between two ticks means that the page or machine slept. */
const LONGEST_TICK = 5_000;

export class Active {
  #pending = 0;
  #ticked: number;
  #touched: number;

  constructor(
    private readonly now: () => number,
    private readonly seen: () => boolean,
  ) {
    this.#ticked = this.#touched = now();
  }

  /** Somebody did something. */
  touch(): void {
    this.tick();
    this.#touched = this.now();
  }

  /** Count up to now; called each second. */
  tick(): void {
    const now = this.now();
    const past = now - this.#ticked;
    this.#ticked = now;
    if (past <= 0 || past > LONGEST_TICK || !this.seen() || now - this.#touched > IDLE_AFTER) return;
    this.#pending += past / 1000;
  }

  /** Seconds not yet reported to the server. */
  get pending(): number {
    return this.#pending;
  }

  /** Take these seconds in order to report them. */
  take(): number {
    const seconds = this.#pending;
    this.#pending = 0;
    return seconds;
  }

  /** Return the seconds if reporting failed. */
  back(seconds: number): void {
    this.#pending += seconds;
  }
}
