import { describe, expect, it } from "vitest";
import { at, scale, scrollTo, span, TALLEST } from "./windowing.ts";

describe("span", () => {
  it("takes what is in sight and a little more", () => {
    expect(span(1000, 20, 400, 100, 2)).toEqual({ first: 18, end: 27, top: 360 });
  });
  it("stays within what there is", () => {
    expect(span(3, 20, 0, 100)).toEqual({ first: 0, end: 3, top: 0 });
    expect(span(0, 20, 0, 100)).toEqual({ first: 0, end: 0, top: 0 });
  });
  it("reaches the last row of what is taller than a browser lays out", () => {
    const [count, row, port] = [5_000_000, 18, 600];
    const { height, factor } = scale(count * row, port);
    expect(height).toBe(TALLEST);
    expect(factor).toBeGreaterThan(5);
    const last = span(count, row, height - port, port);
    expect(last.end).toBe(count);
    expect(last.top + (last.end - last.first) * row).toBeCloseTo(height, 3);
  });
});

it("scrolls to any row and finds it there", () => {
  const [count, row, port] = [5_000_000, 18, 600];
  const to = scrollTo(4_000_000 * row, count * row, port);
  expect(span(count, row, to, port, 0).first).toBe(4_000_000);
});

it("finds where an offset lies", () => {
  expect([0, 9, 10, 25, 99].map((offset) => at([0, 10, 20], offset))).toEqual([0, 0, 1, 2, 2]);
});
