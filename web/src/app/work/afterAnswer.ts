/** Feedback after an answer was handed in: a quiz's right answer, or the earlier votes. Most items have neither. */
import { api, ask } from "../api.ts";
import { Failure, sentence } from "../failure.ts";
import { say } from "../ui/toasts.svelte.ts";
import type { Bench } from "./openItem.svelte.ts";
import type { Outcome } from "./dialogs/OutcomeDialog.svelte";

const LOOKED_AT_AGAIN = new Set(["audit", "adjudication"]);

export async function outcomeOf(bench: Bench): Promise<Outcome | undefined> {
  const path = { path: { id: bench.item.id } };
  try {
    const queues = await ask(api.GET("/api/v1/queues"));
    const queue = queues.find((one) => one.round === bench.item.round);
    if (queue?.kind === "calibration") {
      const quiz = await ask(api.GET("/api/v1/items/{id}/quiz", { params: path }));
      return { kind: "quiz", quiz, ...ended(queue) };
    }
    if (queue && LOOKED_AT_AGAIN.has(queue.kind)) {
      return { kind: "earlier", earlier: await ask(api.GET("/api/v1/items/{id}/earlier", { params: path })) };
    }
  } catch (thrown) {
    // The answer was handed in; only its feedback is missing.
    if (!(thrown instanceof Failure)) throw thrown;
    say(sentence(thrown), "warn");
  }
  return undefined;
}

function ended(queue: { passed: boolean | null }): { end: string; passed: boolean | undefined } {
  if (queue.passed === null) return { end: "", passed: undefined };
  const end = queue.passed
    ? "You passed the quiz. The queues that ask for it are open to you now."
    : "You did not pass the quiz. Ask an admin how to go on.";
  return { end, passed: queue.passed };
}
