/** Columns of a file of judgments, by form, as in `worksample.people.import_judgments`. */
import type { Judging } from "./kinds.ts";

export const COLUMNS: Record<Judging, { needed: readonly string[]; more: readonly string[] }> = {
  holistic: {
    needed: ["subject", "evaluator", "score", "justification"],
    more: ["critical_flaw", "inspected", "recognised"],
  },
  pairwise: {
    needed: ["subject", "second", "evaluator", "completion", "quality", "justification"],
    more: ["inspected", "recognised"],
  },
  rubric: { needed: ["subject", "evaluator", "marks"], more: ["feedback"] },
  tags: { needed: ["subject", "evaluator", "tags"], more: ["note"] },
  integrity: { needed: ["subject", "evaluator", "finding", "justification"], more: [] },
};

/** Guess "csv" or "jsonl" from a file's name; undefined if it does not say. */
export function formatOf(name: string): "csv" | "jsonl" | undefined {
  if (/\.(jsonl|ndjson)$/i.test(name)) return "jsonl";
  return /\.(csv|txt)$/i.test(name) ? "csv" : undefined;
}

/** Sort faulty rows, which the server names "row 12", by number. */
export function faultyRows(faults: Readonly<Record<string, string>>): { row: string; what: string }[] {
  const number = (row: string) => Number(/\d+/.exec(row)?.[0] ?? 0);
  return Object.entries(faults)
    .map(([row, what]) => ({ row, what }))
    .sort((a, b) => number(a.row) - number(b.row));
}
