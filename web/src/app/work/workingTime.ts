/** Time at work: while the page is seen and somebody did something within the last minute. */
export const IDLE_AFTER = 60_000;
/** A gap between two ticks that is longer than this was sleep, of the page or of the machine. */
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

  /** Count up to now; call it each second. */
  tick(): void {
    const now = this.now();
    const past = now - this.#ticked;
    this.#ticked = now;
    if (past <= 0 || past > LONGEST_TICK || !this.seen() || now - this.#touched > IDLE_AFTER) return;
    this.#pending += past / 1000;
  }

  /** Seconds that the server has not been told of. */
  get pending(): number {
    return this.#pending;
  }

  /** The same, to be told now. */
  take(): number {
    const seconds = this.#pending;
    this.#pending = 0;
    return seconds;
  }

  /** Telling failed. */
  back(seconds: number): void {
    this.#pending += seconds;
  }
}
