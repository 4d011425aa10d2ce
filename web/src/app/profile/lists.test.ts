import { expect, it } from "vitest";
import { listOf, numberOf } from "./lists.ts";

it("takes commas and lines, each word once", () => {
  expect(listOf("upwork:design,  logos\nlogos; ")).toEqual(["upwork:design", "logos"]);
  expect(listOf(" ")).toEqual([]);
});
it.each([["", null], [" 12.5 ", 12.5], ["12,5", 12.5], ["-3", undefined], ["1e9", undefined], ["about 3", undefined]])(
  "reads %j as %j",
  (typed, number) => expect(numberOf(typed)).toBe(number),
);
