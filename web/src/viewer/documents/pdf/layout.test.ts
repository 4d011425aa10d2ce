import { expect, it } from "vitest";
import { GAP, layout, POINT, scaleOf, turned } from "./layout.ts";

const a4 = { width: 595, height: 842 };

it("fits the width, the page, or takes a number", () => {
  expect(scaleOf(1, a4, { width: 10, height: 10 })).toBe(POINT);
  expect(scaleOf("width", a4, { width: 595 + 2 * GAP, height: 10 })).toBe(1);
  expect(scaleOf("page", a4, { width: 9999, height: 421 + 2 * GAP })).toBe(0.5);
});
it("puts pages below each other, with the sizes that are known", () => {
  const { starts } = layout(3, a4, new Map([[1, { width: 842, height: 595 }]]), 0, 1);
  expect([...starts]).toEqual([GAP, 842 + 2 * GAP, 842 + 595 + 3 * GAP, 2 * 842 + 595 + 4 * GAP]);
});
it("turns pages", () => {
  expect(turned(a4, 270)).toEqual({ width: 842, height: 595 });
  expect(layout(1, a4, new Map(), 90, 2).widest).toBe(1684);
});
it("lays out 20,000 pages at once", () => {
  const { starts } = layout(20_000, a4, new Map(), 0, 1);
  expect(starts[20_000]).toBe(20_000 * (842 + GAP) + GAP);
});
