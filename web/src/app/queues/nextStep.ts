/** What somebody does next in a queue: what is missing decides, then what is open, then what is left. */
import type { Schemas } from "../api.ts";

export type QueueView = Schemas["QueueView"];
export interface Step {
  label: string;
  to: string;
  /** It leads to the work itself. */
  work: boolean;
}

export const worked = (queue: QueueView): string => `/work/${encodeURIComponent(queue.round)}`;

/** undefined: there is nothing to do here now. `queues`: all of the person's, among them the quiz. */
export function nextStep(queue: QueueView, queues: readonly QueueView[]): Step | undefined {
  if (queue.missing.includes("training")) return { label: "Read the training", to: "/training", work: false };
  if (queue.missing.includes("quiz")) {
    const quiz = queues.find((other) => other.kind === "calibration" && other.passed === null);
    return quiz && { label: "Take the quiz", to: quiz.missing ? "/training" : worked(quiz), work: false };
  }
  if (queue.missing || queue.state !== "open") return undefined;
  if (queue.mine.open > 0) return { label: "Continue", to: worked(queue), work: true };
  if (queue.left > 0) return { label: queue.mine.done > 0 ? "Next item" : "Start", to: worked(queue), work: true };
  return undefined;
}

const ABOUT: Record<QueueView["form"], string> = {
  holistic: "Would a reasonable client accept the deliverable as the commissioned work, next to the reference?",
  pairwise: "Two deliverables of the same brief: which is closer to done, and which is better?",
  rubric: "Judge each criterion separately, as it is worded.",
  tags: "Name what is wrong with a deliverable.",
  integrity: "Was the work done honestly, or was the task bypassed?",
  qualification: "Is a job, as it was posted, fit to be a task? Look at the post and its attachments.",
};
const KINDS: Partial<Record<QueueView["kind"], string>> = {
  calibration: "Items whose right answer is known. You see it after each, with the reason.",
  audit: "What others let pass, once more, with fresh eyes.",
  adjudication: "What the votes contest. Decide first; then you see what others said.",
  false_negatives: "A sample of what others failed.",
  reliability: "A sample that two people judge.",
  pilot: "A first sample, judged twice, that tries the instructions.",
};

export const about = (queue: QueueView): string => KINDS[queue.kind] ?? ABOUT[queue.form];
