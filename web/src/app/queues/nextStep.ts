/** The next step of a person in a queue: first requirements, then the open item, then new items. */
import type { Schemas } from "../api.ts";

export type QueueView = Schemas["QueueView"];
export interface Step {
  label: string;
  to: string;
  /** Whether it leads to the work page. */
  work: boolean;
}

export const worked = (queue: QueueView): string => `/work/${encodeURIComponent(queue.round)}`;

/** Return the next step; undefined if nothing can be done now. `queues`: all queues of the person, including the quiz. */
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
  qualification: "Is a job, as posted, fit to be a task? Read the post and its attachments.",
};
const KINDS: Partial<Record<QueueView["kind"], string>> = {
  calibration: "Items with known right answers. After each item you see the right answer and its reason.",
  audit: "Deliverables that others accepted, judged again.",
  adjudication: "Deliverables on which votes differ. Decide first; then you see the other votes.",
  false_negatives: "A sample of deliverables that others failed.",
  reliability: "A sample that two people judge.",
  pilot: "A first sample, judged twice, that tests the instructions.",
};

export const about = (queue: QueueView): string => KINDS[queue.kind] ?? ABOUT[queue.form];
