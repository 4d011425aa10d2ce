import { expect, it } from "vitest";
import { locate, occurrences } from "./search.ts";

it("counts across pieces, whatever the case", () => {
  expect(occurrences(["Fin", "dings and find", "ings"], "findings")).toBe(2);
  expect(occurrences(["aaaa"], "aa")).toBe(2);
});
it("locates a hit on its page", () => {
  const hits = [
    { page: 3, count: 2 },
    { page: 9, count: 1 },
  ];
  expect([0, 1, 2, 3].map((n) => locate(hits, n))).toEqual([
    { page: 3, within: 0 },
    { page: 3, within: 1 },
    { page: 9, within: 0 },
    undefined,
  ]);
});
