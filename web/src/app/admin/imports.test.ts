import { expect, test } from "vitest";
import { faultyRows, formatOf } from "./imports.ts";

test("a file's name says its format, or nothing", () => {
  expect([formatOf("a.CSV"), formatOf("b.jsonl"), formatOf("c.ndjson"), formatOf("d.xlsx")]).toEqual([
    "csv", "jsonl", "jsonl", undefined,
  ]);
});

test("faulty rows are listed by number, not by letter", () => {
  const rows = faultyRows({ "row 12": "a", "row 3": "b", "row 2": "c" });
  expect(rows.map((r) => r.row)).toEqual(["row 2", "row 3", "row 12"]);
});
