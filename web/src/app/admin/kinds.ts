/** Titles, purposes and fields of the kinds of rounds; other settings come from the server. */

import type { Schemas } from "../api.ts";
import { PROTOCOL } from "../protocol.ts";

export type Kind = Schemas["RoundKind"];
export type Form = Schemas["Form"];
export type Role = Schemas["Role"];
export type Rule = Schemas["ResolutionRule"];
export type Field =
  | "experiment"
  | "over"
  | "holistic"
  | "form"
  | "protocol"
  | "per_pair"
  | "sample"
  | "positives"
  | "rule"
  | "overlap"
  | "gold"
  | "waive_pilot"
  | "quiz"
  | "reference"
  | "jobs";

export const ROLES: readonly Role[] = PROTOCOL.roles;
/** Forms for judging work; jobs are qualified by another form. */
export type Judging = Exclude<Form, "qualification">;
export const FORMS = (Object.keys(PROTOCOL.forms) as Form[]).filter((form): form is Judging => form !== "qualification");

interface Words {
  title: string;
  /** One sentence on its result. */
  purpose: string;
  fields: readonly Field[];
}

export interface KindSpec extends Words {
  kind: Kind;
  roles: readonly Role[];
  rule: Rule;
  overlap: number;
  /** Null: the form of the reviewed round, or the chosen one. */
  form: Form | null;
  /** Whether it reviews another round. */
  over: boolean;
}

const GATES = PROTOCOL.gates;
/** Agreement that a pilot needs; below, the score that a quiz needs. */
export const PILOT_NEEDS = `${Math.round(GATES.pilot * 100)} % agreement on at least ${GATES.fewest}`;
export const QUIZ_NEEDS = `${Math.round(GATES.quiz * 100)} %`;

/** Kinds in the order of the page. */
const WORDS: Record<Kind, Words> = {
  holistic: {
    title: "Holistic",
    purpose: "Would a reasonable client accept each deliverable as the commissioned work? Gives the automation rate.",
    fields: ["experiment", "rule", "overlap", "waive_pilot", "reference", "gold", "quiz"],
  },
  pairwise: {
    title: "Pairwise",
    purpose: "Two agents' deliverables for one project, side by side. Gives Elo.",
    fields: ["experiment", "holistic", "per_pair", "rule", "overlap", "waive_pilot", "reference", "gold", "quiz"],
  },
  rubric: {
    title: "Rubric",
    purpose: "Each criterion of an expert's rubric on its own: pass, fail, or skipped with the reason.",
    fields: ["experiment", "protocol", "overlap", "waive_pilot", "reference", "gold", "quiz"],
  },
  tags: {
    title: "Failure tags",
    purpose: "What is wrong with each deliverable: corrupt, incomplete, poor, inconsistent, or your own tags.",
    fields: ["experiment", "overlap", "reference", "gold", "quiz"],
  },
  pilot: {
    title: "Pilot",
    purpose: `Random deliverables, judged twice each. ${PILOT_NEEDS} allows rounds with these instructions.`,
    fields: ["experiment", "form", "sample", "reference", "quiz"],
  },
  calibration: {
    title: "Calibration",
    purpose: `Items with known right answers, for everybody: a quiz, passed with ${QUIZ_NEEDS} right.`,
    fields: ["form", "gold", "reference"],
  },
  audit: {
    title: "Audit of positives",
    purpose: "Every submission that passed in another round is judged again, to find false positives.",
    fields: ["over", "reference"],
  },
  false_negatives: {
    title: "Sample of fails",
    purpose: "A random sample of the submissions that failed in another round, one per project. Bounds the false negatives.",
    fields: ["over", "sample", "reference"],
  },
  adjudication: {
    title: "Adjudication",
    purpose: "Submissions on which the votes of another round differ: a reviewer decides.",
    fields: ["over", "reference"],
  },
  reliability: {
    title: "Reliability",
    purpose: "A small sample of another round, rich in passes, judged twice: how far can its votes be relied on?",
    fields: ["over", "sample", "positives", "reference"],
  },
  integrity: {
    title: "Integrity",
    purpose: "Every pass and a sample of fails of another round, with the trajectory: is it honest work?",
    fields: ["over", "sample", "reference"],
  },
  qualification: {
    title: "Qualification",
    purpose: "Is each job fit to be a task? An expert decides, a second one verifies.",
    fields: ["jobs", "rule"],
  },
};

/** Gradings whose criteria a rubric round can ask: those with `by = "person"`, or a rubric's without an evaluator. */
export const PROTOCOLS = [
  { value: "", label: "the rubric ([grading.rubric])" },
  { value: "program", label: "criteria that a program leaves to people ([grading.program])" },
  { value: "checkpoints", label: "criteria that checkpoints leave to people ([grading.checkpoints])" },
] as const;
export type Asked = (typeof PROTOCOLS)[number]["value"];

export const KINDS: readonly KindSpec[] = (Object.keys(WORDS) as Kind[]).map((kind) => ({
  kind,
  ...WORDS[kind],
  ...PROTOCOL.kinds[kind],
}));

export function kindOf(kind: string): KindSpec {
  return KINDS.find((k) => k.kind === kind) ?? KINDS[0]!;
}

/** The form in which people answer, if known before the round is opened. */
export function formOf(kind: KindSpec, chosen: Form | ""): Form {
  return kind.form ?? (chosen || "holistic");
}

/** Whether the form shows the reference by default. */
export function showsReference(form: Form): boolean {
  return PROTOCOL.forms[form].reference;
}

export interface GoldAsk {
  name: string;
  type: string;
  label: string;
  options: readonly { value: string; label: string }[];
}

/** Fields for a gold item's right answer in a form; marks of a rubric are one line of `criterion=mark`. */
export function goldAsks(form: Form): readonly GoldAsk[] {
  return PROTOCOL.forms[form].gold;
}

export const SAMPLE_TEXT: Partial<Record<Kind, string>> = {
  pilot: "Deliverables, drawn at random",
  false_negatives: "Projects, drawn at random: none wrong among 50 bounds the share at 5.8 %",
  reliability: "Deliverables, drawn at random",
  integrity: "Fails, in addition to all that passed",
};
