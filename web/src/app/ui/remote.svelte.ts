/** What a page shows of the server: fetched, fetched again after a change, or a fault with its next step. */
import { sentence } from "../failure.ts";
import { say } from "./toasts.svelte.ts";

export class Remote<T> {
  data: T | undefined = $state.raw();
  fault = $state("");
  busy = $state(false);
  #turn = 0;

  constructor(private readonly fetched: () => Promise<T>) {}

  /** What is shown stays until the new answer is there. Of several calls the latest counts. */
  async load(): Promise<void> {
    const turn = ++this.#turn;
    this.busy = true;
    try {
      const data = await this.fetched();
      if (turn !== this.#turn) return;
      this.data = data;
      this.fault = "";
    } catch (thrown) {
      if (turn === this.#turn) this.fault = sentence(thrown);
    } finally {
      if (turn === this.#turn) this.busy = false;
    }
  }
}

/** Do something and say how it went; true where it worked. */
export async function act(verb: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await verb();
  } catch (thrown) {
    say(sentence(thrown), "bad");
    return false;
  }
  if (done) say(done, "good");
  return true;
}
