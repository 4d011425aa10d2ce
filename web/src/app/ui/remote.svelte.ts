/** Data of a page, fetched from the server and refetched after changes, or an error with its next step. */
import { sentence } from "../failure.ts";
import { say } from "./toasts.svelte.ts";

export class Remote<T> {
  data: T | undefined = $state.raw();
  fault = $state("");
  busy = $state(false);
  #turn = 0;

  constructor(private readonly fetched: () => Promise<T>) {}

  /** Fetch the data. The old data stays until the new arrives; of several calls the latest counts. */
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

/** Run an action and show its outcome as a toast; return whether it worked. */
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
