import { expect, test } from "vitest";
import { countsText, intervalText, place, valueText, type Figure } from "./estimate.ts";

const share: Figure = {
  name: "agreement",
  value: 0.944,
  low: 0.9,
  high: 0.971,
  level: 0.95,
  method: "bootstrap",
  unit: "share",
  counts: { planned: 14, valid: 12, infrastructure_failed: 0, ungraded: 2, pending: 0, special: { votes: 36 } },
  notes: [],
  conditional_on: [],
  printed: "94.4",
};

test("a share is printed in percent, with its interval and what it rests on", () => {
  expect(valueText(share)).toBe("94.4 %");
  expect(intervalText(share)).toBe("90.0 to 97.1 %");
  expect(countsText(share)).toBe("n = 12 of 14; 2 ungraded, 36 votes");
});

test("a figure that does not exist is a dash, never 0", () => {
  expect(valueText({ none: "nobody judged the same item" })).toBe("–");
});

test("an interval may be open at one end, or missing", () => {
  expect(intervalText({ ...share, low: null, high: 0.0582 })).toBe("at most 5.8 %");
  expect(intervalText({ ...share, low: 0.5, high: null })).toBe("at least 50.0 %");
  expect(intervalText({ ...share, low: null, high: null })).toBe("");
});

test("a coefficient keeps its sign and its places", () => {
  const alpha: Figure = { ...share, value: -0.0123, low: -0.2, high: 0.5, unit: "number", printed: "-0.012" };
  expect([valueText(alpha), intervalText(alpha)]).toEqual(["-0.012", "-0.200 to 0.500"]);
});

test("what lies beyond an axis is drawn at its end", () => {
  expect([place(-0.1, 10, 110), place(0.5, 10, 110), place(1.2, 10, 110)]).toEqual([10, 60, 110]);
});
