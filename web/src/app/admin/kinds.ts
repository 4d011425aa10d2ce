/** What each kind of round is for, which settings count for it, and their defaults: `worksample.people.protocol`. */

export type Kind =
  | "holistic"
  | "pairwise"
  | "rubric"
  | "tags"
  | "audit"
  | "false_negatives"
  | "reliability"
  | "adjudication"
  | "integrity"
  | "pilot"
  | "calibration";
export type Form = "holistic" | "pairwise" | "rubric" | "tags" | "integrity";
export type Role = "evaluator" | "expert" | "reviewer" | "admin";
export type Rule = "majority" | "tie_break" | "latest" | "mean";
export type Field =
  | "experiment"
  | "over"
  | "holistic"
  | "form"
  | "per_pair"
  | "sample"
  | "positives"
  | "rule"
  | "overlap"
  | "gold"
  | "waive_pilot"
  | "quiz"
  | "reference";

export const ROLES: readonly Role[] = ["evaluator", "expert", "reviewer", "admin"];
export const FORMS: readonly Form[] = ["holistic", "pairwise", "rubric", "tags", "integrity"];

export interface KindSpec {
  kind: Kind;
  title: string;
  /** One sentence: what comes of it. */
  purpose: string;
  roles: readonly Role[];
  rule: Rule;
  overlap: number;
  /** Null: that of the round it looks at, or as chosen. */
  form: Form | null;
  /** Whether it looks at another round. */
  over: boolean;
  fields: readonly Field[];
}

const MAKERS: readonly Role[] = ["evaluator", "expert", "admin"];
const CHECKERS: readonly Role[] = ["reviewer", "admin"];

function spec(kind: Kind, title: string, rest: Partial<KindSpec> & { purpose: string; fields: Field[] }): KindSpec {
  return { kind, title, roles: MAKERS, rule: "latest", overlap: 1, form: null, over: false, ...rest };
}

export const KINDS: readonly KindSpec[] = [
  spec("holistic", "Holistic", {
    purpose: "Would a reasonable client accept each deliverable as the commissioned work? Gives the automation rate.",
    rule: "majority",
    overlap: 3,
    form: "holistic",
    fields: ["experiment", "rule", "overlap", "waive_pilot", "reference", "gold", "quiz"],
  }),
  spec("pairwise", "Pairwise", {
    purpose: "Two agents' deliverables for one project, side by side. Gives Elo.",
    rule: "tie_break",
    overlap: 2,
    form: "pairwise",
    fields: ["experiment", "holistic", "per_pair", "rule", "overlap", "waive_pilot", "reference", "gold", "quiz"],
  }),
  spec("rubric", "Rubric", {
    purpose: "Each criterion of an expert's rubric on its own: pass, fail, or skipped with the reason.",
    roles: ["expert", "admin"],
    form: "rubric",
    fields: ["experiment", "overlap", "waive_pilot", "reference", "gold", "quiz"],
  }),
  spec("tags", "Failure tags", {
    purpose: "What is wrong with each deliverable: corrupt, incomplete, poor, inconsistent, and tags of one's own.",
    form: "tags",
    fields: ["experiment", "overlap", "reference", "gold", "quiz"],
  }),
  spec("pilot", "Pilot", {
    purpose: "Random deliverables, judged twice each. 85 % agreement on at least five opens these instructions.",
    rule: "majority",
    overlap: 2,
    fields: ["experiment", "form", "sample", "reference", "quiz"],
  }),
  spec("calibration", "Calibration", {
    purpose: "Items whose right answer is known, for everybody: a quiz, passed with 85 % right.",
    fields: ["form", "gold", "reference"],
  }),
  spec("audit", "Audit of positives", {
    purpose: "Everything that passed in another round, once more, against false positives.",
    roles: CHECKERS,
    over: true,
    fields: ["over", "reference"],
  }),
  spec("false_negatives", "Sample of fails", {
    purpose: "A random sample of what failed in another round, one per project. Bounds the false negatives.",
    roles: CHECKERS,
    over: true,
    fields: ["over", "sample", "reference"],
  }),
  spec("adjudication", "Adjudication", {
    purpose: "What the votes of another round contest: a reviewer decides.",
    roles: CHECKERS,
    over: true,
    fields: ["over", "reference"],
  }),
  spec("reliability", "Reliability", {
    purpose: "A small sample of another round, rich in passes, judged twice: how far can its votes be relied on?",
    rule: "majority",
    overlap: 2,
    over: true,
    fields: ["over", "sample", "positives", "reference"],
  }),
  spec("integrity", "Integrity", {
    purpose: "Every pass and a sample of fails of another round, with the trajectory: is it honest work?",
    roles: CHECKERS,
    over: true,
    form: "integrity",
    fields: ["over", "sample", "reference"],
  }),
];

export function kindOf(kind: string): KindSpec {
  return KINDS.find((k) => k.kind === kind) ?? KINDS[0]!;
}

/** In which form people answer, as far as that is known before the round is opened. */
export function formOf(kind: KindSpec, chosen: Form | ""): Form {
  return kind.form ?? (chosen || "holistic");
}

/** Whether the reference is shown unless the round says otherwise. */
export function showsReference(form: Form): boolean {
  return form !== "rubric";
}

export const SAMPLE_TEXT: Partial<Record<Kind, string>> = {
  pilot: "Deliverables, drawn at random",
  false_negatives: "Projects, drawn at random: none wrong among 50 bounds the share at 5.8 %",
  reliability: "Deliverables, drawn at random",
  integrity: "Fails beside all that passed",
};
