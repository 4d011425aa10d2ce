/** A rubric being edited: its rows, the request built from them, and the differences between two versions. */
import type { Schemas } from "../api.ts";

export type Criterion = Schemas["CriterionBody"];
export type Importance = Schemas["Importance"];
export type By = Schemas["By"];

/** `key` identifies the row in the page; `id` is made from the text, and fixed once saved. */
export interface Row extends Criterion {
  key: number;
  /** The model's draft that the criterion was taken from. */
  from?: string;
}

export const IMPORTANCES: readonly { value: Importance; label: string }[] = [
  { value: "critical", label: "Critical" },
  { value: "important", label: "Important" },
  { value: "optional", label: "Optional" },
  { value: "pitfall", label: "Pitfall" },
];
export const BYS: readonly { value: By; label: string }[] = [
  { value: "person", label: "a person" },
  { value: "judge", label: "a judge model" },
  { value: "program", label: "a program" },
];
export const NAME = /^[a-z0-9][a-z0-9_.-]{0,99}$/;

let keys = 0;
export const rowOf = (one: Criterion): Row => ({ ...one, key: ++keys });
export const blankRow = (): Row => rowOf({ id: "", text: "", importance: "important", by: "person", gate: false });

/** Return the models' drafts that rows were taken from, each once. */
export const draftsOf = (rows: readonly Row[]): string[] => [
  ...new Set(rows.filter((row) => row.text.trim() !== "").flatMap((row) => row.from ?? [])),
];

/** Append a criterion of a model's draft to the rows; it replaces a blank last row. */
export function taken(rows: readonly Row[], one: Pick<Criterion, "text" | "importance">, from: string): Row[] {
  const last = rows.at(-1);
  const kept = last && last.text.trim() === "" ? rows.slice(0, -1) : rows;
  return [...kept, { ...blankRow(), text: one.text, importance: one.importance, from }];
}

/** Make a short unique id from a text's first words. */
export function idOf(text: string, taken: ReadonlySet<string>): string {
  const words = text.toLowerCase().normalize("NFKD").match(/[a-z0-9]+/g) ?? [];
  const skipped = new Set(["the", "a", "an", "of", "is", "are", "has", "have", "all", "in", "every", "and", "to"]);
  const telling = words.filter((word) => !skipped.has(word));
  const base = (telling.length > 0 ? telling : words).slice(0, 3).join("-").slice(0, 60) || "criterion";
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(id)) return id;
  }
}

/** Return the criteria to send: rows without a text are left out, new ones get an id. */
export function criteriaOf(rows: readonly Row[]): Criterion[] {
  const written = rows.filter((row) => row.text.trim() !== "");
  const taken = new Set(written.map((row) => row.id).filter(Boolean));
  return written.map(({ id, text, importance, by, gate }) => {
    const own = id || idOf(text, taken);
    taken.add(own);
    return { id: own, text: text.trim(), importance, by, gate };
  });
}

/** Move a row by one place; at an end nothing changes. */
export function moved(rows: readonly Row[], from: number, by: -1 | 1): Row[] {
  const to = from + by;
  const out = [...rows];
  const [row] = out.splice(from, 1);
  if (!row || to < 0 || to >= rows.length) return [...rows];
  out.splice(to, 0, row);
  return out;
}

export interface Change {
  id: string;
  what: "added" | "removed" | "changed" | "moved" | "same";
  before?: Criterion;
  after?: Criterion;
}

/** Compare two versions criterion by criterion, by id: in the newer order, removed ones last. */
export function compare(older: readonly Criterion[], newer: readonly Criterion[]): Change[] {
  const before = new Map(older.map((one) => [one.id, one]));
  const left = new Set(newer.map((one) => one.id));
  // Positions among criteria of both versions, so that added or removed ones count as no move.
  const places = older.filter((one) => left.has(one.id)).map((one) => one.id);
  const common = newer.filter((one) => before.has(one.id)).map((one) => one.id);
  const out: Change[] = newer.map((after) => {
    const old = before.get(after.id);
    if (!old) return { id: after.id, what: "added", after };
    const same =
      old.text === after.text && old.importance === after.importance && old.by === after.by && old.gate === after.gate;
    if (!same) return { id: after.id, what: "changed", before: old, after };
    const stays = places.indexOf(after.id) === common.indexOf(after.id);
    return { id: after.id, what: stays ? "same" : "moved", before: old, after };
  });
  return [...out, ...older.filter((o) => !left.has(o.id)).map((o): Change => ({ id: o.id, what: "removed", before: o }))];
}
