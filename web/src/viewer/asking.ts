/** Requests a file's view, and waits while the server converts it. */

import { address, Refused, words, type View } from "./context.svelte.ts";

const PAUSE = 1000;

/** `waiting` gets the seconds that the conversion has taken so far. Throws Refused, AbortError. */
export async function ask(
  content: string,
  path: string[],
  signal: AbortSignal,
  waiting: (seconds: number) => void,
): Promise<View> {
  const url = address(content, "view", path);
  for (;;) {
    const answer = await fetch(url, { signal, credentials: "omit", cache: "no-cache" });
    if (answer.status === 200) return (await answer.json()) as View;
    if (answer.status !== 202) throw new Refused(answer.status, await words(answer));
    const state = (await answer.json()) as { seconds?: number };
    waiting(Math.round(state.seconds ?? 0));
    await pause(PAUSE, signal);
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("Another file was asked for.", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/** Describe anything thrown; "" for deliberate cancellation. */
export function saying(fault: unknown): string | undefined {
  if (fault instanceof DOMException && fault.name === "AbortError") return undefined;
  if (fault instanceof TypeError && /fetch|network/i.test(fault.message)) {
    return "The server cannot be reached. Try again.";
  }
  if (fault instanceof Refused && (fault.status === 401 || fault.status === 404 || fault.status === 410)) {
    return `${fault.message} If you have been away for long, reload the page.`;
  }
  return fault instanceof Error ? fault.message || fault.name : String(fault);
}
