import { expect, test } from "vitest";
import { blankRow, compare, criteriaOf, draftsOf, idOf, moved, rowOf, taken, type Criterion } from "./draft.ts";

const one = (id: string, text = id): Criterion => ({ id, text, importance: "critical", by: "person", gate: false });

test("ids come from what is telling in a text, and none stands twice", () => {
  expect(idOf("The net total of every customer is right", new Set())).toBe("net-total-customer");
  expect(idOf("The net total of every customer is right", new Set(["net-total-customer"]))).toBe("net-total-customer-2");
  expect(idOf("…", new Set())).toBe("criterion");
  const rows = [rowOf(one("sums")), { ...blankRow(), text: "Sums" }, { ...blankRow(), text: " " }];
  expect(criteriaOf(rows).map((c) => c.id)).toEqual(["sums", "sums-2"]);
});

test("a row moves by one place and stays at an end", () => {
  const rows = ["a", "b", "c"].map((id) => rowOf(one(id)));
  const ids = (list: readonly Criterion[]) => list.map((row) => row.id).join("");
  expect(ids(moved(rows, 0, 1))).toBe("bac");
  expect(ids(moved(rows, 2, 1))).toBe("abc");
  expect(ids(moved(rows, 0, -1))).toBe("abc");
});

test("two versions are compared criterion by criterion", () => {
  const before = [one("a"), one("b"), one("c"), one("d")];
  const after = [one("new"), one("b", "another text"), one("c"), one("a")];
  expect(compare(before, after).map((c) => `${c.id} ${c.what}`)).toEqual([
    "new added", "b changed", "c moved", "a moved", "d removed",
  ]);
  expect(compare(before, before.slice(1)).map((c) => c.what)).toEqual(["same", "same", "same", "removed"]);
});

test("what is taken from a model's draft is a row like others that knows its draft", () => {
  const first = taken([blankRow()], { text: "Lists all sums", importance: "critical" }, "d1");
  expect(first.map((row) => [row.text, row.importance, row.by, row.from])).toEqual([["Lists all sums", "critical", "person", "d1"]]);
  const both = taken([...first, rowOf(one("own"))], { text: "Names the year", importance: "optional" }, "d1");
  expect(draftsOf(both)).toEqual(["d1"]);
  expect(criteriaOf(both)[0]).toEqual({ id: "lists-sums", text: "Lists all sums", importance: "critical", by: "person", gate: false });
  expect(draftsOf(both.filter((row) => !row.from))).toEqual([]);
});
