/** An item's questions: number keys of answers, missing answers, and effects of an answer on others. */
import type { Schemas } from "../api.ts";
import type { Payload } from "./draft.ts";

type Item = Pick<Schemas["ItemView"], "asks" | "criteria" | "early_stop">;
export type Ask = Schemas["AskView"];
export type Criterion = Schemas["CriterionView"];
export interface Numbered {
  ask: string;
  value: string;
}

/** Criteria without parts, in order, each with the texts of its parents. */
export interface Leaf {
  criterion: Criterion;
  within: readonly string[];
}

export function leavesOf(criteria: readonly Criterion[], within: readonly string[] = []): Leaf[] {
  return criteria.flatMap((criterion) =>
    criterion.parts.length > 0
      ? leavesOf(criterion.parts, [...within, criterion.text])
      : [{ criterion, within }],
  );
}

const text = (value: unknown): string => (typeof value === "string" ? value.trim() : "");
const table = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

export class Asked {
  readonly asks: readonly Ask[];
  readonly leaves: readonly Leaf[];
  /** Meaning of the digits from 1; in a rubric they mark the focused criterion. */
  readonly numbered: readonly Numbered[];
  readonly #early: boolean;

  constructor(item: Item) {
    this.asks = item.asks;
    this.leaves = leavesOf(item.criteria.criteria);
    this.#early = item.early_stop;
    this.numbered = item.asks
      .filter((ask) => ask.type === "choice" || ask.type === "tags" || (ask.type === "criteria" && ask.options.length > 0))
      .flatMap((ask) => ask.options.map((option) => ({ ask: ask.name, value: option.value })))
      .slice(0, 9);
  }

  /** The digit shown on an answer, or "". */
  digit(ask: string, value: string): string {
    const at = this.numbered.findIndex((entry) => entry.ask === ask && entry.value === value);
    return at < 0 ? "" : String(at + 1);
  }

  ask(name: string): Ask | undefined {
    return this.asks.find((ask) => ask.name === name);
  }

  /** The first question that needs a reason in words. */
  get reason(): string {
    return this.asks.find((ask) => ask.type === "text" && ask.name !== "critical_flaw")?.name ?? "";
  }

  /** Add an answer. A critical flaw fails the work at once (RLI B.4). */
  answered(payload: Payload, name: string, value: unknown): Payload {
    const next = { ...payload, [name]: value };
    if (this.#early && name === "critical_flaw" && text(value)) next.score = "1";
    return next;
  }

  /** Return question or criterion -> fault. `poor`: whether a file could not be shown in full. */
  missing(payload: Payload, poor: boolean): Record<string, string> {
    const faults: Record<string, string> = {};
    const flawed = this.#early && text(payload.critical_flaw) !== "";
    for (const ask of this.asks) {
      const value = payload[ask.name];
      if (ask.name === "inspected" && poor && typeof value !== "boolean") {
        faults.inspected = "A file could not be shown in full: say whether you could still judge it.";
      }
      const of = ask.name.endsWith("_why") ? this.ask(ask.name.slice(0, -"_why".length)) : undefined;
      if (of?.type === "choice" && payload[of.name] === "no" && text(value) === "") faults[ask.name] = "Write a reason.";
      if (!ask.required || ask.type === "criteria" || (ask.name === this.reason && flawed)) continue;
      const given = ask.type === "tags" ? Array.isArray(value) && value.length > 0 : text(String(value ?? "")) !== "";
      if (!given) faults[ask.name] = ask.type === "text" ? "Write a reason." : "Choose an answer.";
    }
    if (flawed && String(payload.score) !== "1") {
      faults.critical_flaw = "With a critical flaw the score is 1. Change the score or empty this field.";
    }
    return { ...faults, ...this.#unmarked(payload) };
  }

  #unmarked(payload: Payload): Record<string, string> {
    const faults: Record<string, string> = {};
    const [marks, feedback] = [table(payload.marks), table(payload.feedback)];
    for (const { criterion } of this.leaves) {
      const mark = text(marks[criterion.id]);
      if (!mark) faults[criterion.id] = "Not marked yet.";
      else if (mark !== "pass" && !text(feedback[criterion.id])) faults[criterion.id] = "Say why.";
    }
    return faults;
  }
}
