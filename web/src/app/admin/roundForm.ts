/** The draft of a new round, its faults, and the request built from it. */

import { PROTOCOL } from "../protocol.ts";
import { formOf, goldAsks, kindOf, type Asked, type Field, type Form, type Kind, type Role, type Rule } from "./kinds.ts";

export interface GoldDraft {
  subject: string;
  /** For pairs. */
  second: string;
  /** Question -> answer as typed; tags are separated by commas. */
  expected: Record<string, string>;
  explanation: string;
}

/** An additional question about jobs. */
export interface QuestionDraft {
  name: string;
  text: string;
  decides: boolean;
  /** Separated by commas; empty: yes or no. */
  answers: string;
}

/** Empty texts and nulls mean the default. */
export interface Draft {
  kind: Kind;
  experiment: string;
  over: string;
  holistic: string;
  form: Form | "";
  /** Grading whose criteria people are asked. */
  protocol: Asked;
  per_pair: number;
  sample: number;
  /** Percent. */
  positives: number;
  rule: Rule | "";
  overlap: number | null;
  roles: Role[] | null;
  reference: "" | "shown" | "hidden";
  domains: boolean;
  training: boolean;
  quiz: string;
  lease_minutes: number;
  most_open: number;
  seed: string;
  waive_pilot: string;
  reason: string;
  gold: GoldDraft[];
  /** Ids of instances. */
  jobs: string[];
  questions: QuestionDraft[];
  look: boolean;
}

export function blank(kind: Kind = "holistic"): Draft {
  const usual = PROTOCOL.defaults;
  return {
    kind, ...usual, positives: usual.positives * 100, experiment: "", over: "", holistic: "", form: "", protocol: "", rule: "",
    overlap: null, roles: null, reference: "", quiz: "", seed: "", waive_pilot: "", reason: "", gold: [], jobs: [], questions: [], look: true,
  };
}

/** Check the choice of an experiment. `known`: ids of existing experiments, once fetched. */
export function experimentFault(experiment: string, known?: readonly string[]): string {
  if (known?.length === 0) return "No experiment has work to judge yet. Run one first.";
  if (!experiment) return "Choose the experiment whose work is judged.";
  return known && !known.includes(experiment) ? `There is no experiment ${experiment} here. Choose another one.` : "";
}

/** The first fault, and the number of others. */
export function refusal(faults: Record<string, string>): string {
  const [first, ...more] = Object.values(faults);
  if (first === undefined) return "";
  return more.length === 0 ? first : `${first} ${more.length === 1 ? "One more is" : `${more.length} more are`} marked.`;
}

/** Return field -> fault. Fields that do not apply to the kind are not checked. */
export function faultsOf(draft: Draft, experiments?: readonly string[]): Record<string, string> {
  const kind = kindOf(draft.kind);
  const has = (field: Field) => kind.fields.includes(field);
  const out: Record<string, string> = {};
  const unknown = has("experiment") ? experimentFault(draft.experiment, experiments) : "";
  if (unknown) out.experiment = unknown;
  if (has("over") && !draft.over) out.over = "Choose the round it looks at.";
  if (draft.kind === "calibration" && draft.gold.length === 0) out.gold = "A calibration needs gold items.";
  if (has("overlap") && draft.overlap !== null && draft.overlap < 1) out.overlap = "One vote or more.";
  if (has("sample") && !(draft.sample >= 1)) out.sample = "One or more.";
  if (has("per_pair") && !(draft.per_pair >= 1)) out.per_pair = "One or more.";
  if (has("positives") && !(draft.positives >= 0 && draft.positives <= 100)) out.positives = "From 0 to 100 %.";
  if (draft.roles !== null && draft.roles.length === 0) out.roles = "Choose at least one role.";
  if (draft.seed !== "" && !/^\d{1,15}$/.test(draft.seed)) out.seed = "A whole number, or nothing.";
  if (!(draft.lease_minutes > 0)) out.lease_minutes = "More than 0 minutes.";
  if (!(draft.most_open >= 1)) out.most_open = "One or more.";
  if (has("jobs")) Object.assign(out, jobFaults(draft));
  const asks = goldAsks(formOf(kind, draft.form)).map((asked) => asked.name);
  for (const [n, gold] of has("gold") ? draft.gold.entries() : []) {
    const missing = asks.filter((name) => !gold.expected[name]?.trim());
    if (!gold.subject.trim()) out[`gold.${n}`] = "Name the submission.";
    else if (formOf(kind, draft.form) === "pairwise" && !gold.second.trim()) out[`gold.${n}`] = "Name the second one.";
    else if (missing.length > 0) out[`gold.${n}`] = `Say what is right: ${missing.join(", ")}.`;
  }
  return out;
}

function jobFaults(draft: Draft): Record<string, string> {
  const out: Record<string, string> = {};
  if (draft.jobs.length === 0) out.jobs = "Choose at least one job.";
  for (const [n, one] of draft.questions.entries()) {
    const answers = one.answers.trim() ? listOf(one.answers) : [];
    if (!/^[a-z][a-z0-9_]{0,39}$/.test(one.name)) out[`question.${n}`] = "A name is small letters, digits and _.";
    else if (draft.questions.some((other, m) => m < n && other.name === one.name)) out[`question.${n}`] = "This name is taken.";
    else if (!one.text.trim()) out[`question.${n}`] = "Say what is asked.";
    else if (answers.length > 0 && new Set(answers).size < 2) out[`question.${n}`] = "Two answers or more, or none.";
    else if (answers.length > 0 && one.decides) out[`question.${n}`] = "Only yes or no can leave a job out.";
  }
  return out;
}

const listOf = (text: string) => text.split(",").map((part) => part.trim()).filter(Boolean);

/** Build the request's body: only fields that apply to the kind and differ from the default. */
export function bodyOf(draft: Draft): Record<string, unknown> {
  const kind = kindOf(draft.kind);
  const has = (field: Field) => kind.fields.includes(field);
  const body: Record<string, unknown> = { kind: draft.kind };
  const put = (name: Field, value: unknown) => {
    if (has(name) && value !== "" && value !== null && value !== undefined) body[name] = value;
  };
  put("experiment", draft.experiment);
  put("over", draft.over);
  put("holistic", draft.holistic);
  put("form", draft.form);
  put("protocol", draft.protocol);
  put("per_pair", draft.per_pair);
  put("sample", draft.sample);
  put("positives", draft.positives / 100);
  put("rule", draft.rule);
  // A tie-break always has two votes and a third.
  put("overlap", (draft.rule || kind.rule) === "tie_break" ? null : draft.overlap);
  put("reference", draft.reference === "" ? null : draft.reference === "shown");
  put("quiz", draft.quiz);
  put("waive_pilot", draft.waive_pilot.trim());
  if (has("gold") && draft.gold.length > 0) {
    body.gold = draft.gold.map((gold) => goldOf(gold, formOf(kind, draft.form)));
  }
  if (has("jobs")) {
    body.subjects = draft.jobs;
    body.look = draft.look;
    body.questions = draft.questions.map((one) => ({
      name: one.name, text: one.text.trim(), decides: one.decides, answers: listOf(one.answers),
    }));
  }
  if (draft.roles !== null) body.roles = draft.roles;
  if (draft.seed !== "") body.seed = Number(draft.seed);
  if (draft.reason.trim()) body.reason = draft.reason.trim();
  return {
    ...body,
    domains: draft.domains,
    training: draft.training,
    lease_minutes: draft.lease_minutes,
    most_open: draft.most_open,
  };
}

function goldOf(gold: GoldDraft, form: Form): Record<string, unknown> {
  const said = (name: string) => gold.expected[name]?.trim() ?? "";
  let expected: Record<string, unknown>;
  if (form === "holistic") expected = { score: Number(said("score")) };
  else if (form === "tags") expected = { tags: listOf(said("tags")) };
  else if (form === "rubric") {
    // Parse "title=pass, sums=fail", a mark for each criterion.
    expected = Object.fromEntries(listOf(said("marks")).map((part) => part.split("=").map((word) => word.trim())));
  } else expected = Object.fromEntries(goldAsks(form).map(({ name }) => [name, said(name)]));
  const second = form === "pairwise" ? { second: gold.second.trim() } : {};
  return { subject: gold.subject.trim(), ...second, expected, explanation: gold.explanation.trim() };
}
