import { describe, expect, it } from "vitest";
import { CLOSE, CUBIC, LINE, middle, MOVE, parse, whole } from "./lines.ts";
import { number, toDrawing } from "./units.ts";

const svg = (paths: string, styles = "") =>
  `<?xml version='1.0'?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 500"><defs>${styles}</defs>` +
  `<rect fill="#FFFFFF" x="0" y="0" width="1000" height="500" /><g>${paths}</g></svg>`;

describe("parse", () => {
  it("reads moves, lines, curves and ends into absolute points", () => {
    const lines = parse(svg('<path d="M 10 20 l 5 0 0 5 Z M 1 1 c 0 1 1 2 2 2" class="C1" data-layer="3" />'));
    expect([...lines.ops]).toEqual([MOVE, LINE, LINE, CLOSE, MOVE, CUBIC]);
    expect([...lines.points]).toEqual([10, 20, 15, 20, 15, 25, 1, 1, 1, 2, 2, 3, 3, 3]);
    expect([...lines.boxes]).toEqual([1, 1, 15, 25]);
    expect([...lines.layer]).toEqual([3]);
    expect(lines.background).toBe("#FFFFFF");
  });
  it("takes colours only as six digits", () => {
    const styles =
      "<style>.C1 {stroke: #ff0000; stroke-width: 25; stroke-opacity: 0.500; fill: none; fill-opacity: 1.000;}</style>" +
      "<style>.C2 {stroke: url(http://elsewhere.example); fill: expression(1);}</style>";
    const lines = parse(svg('<path d="M 0 0 l 1 1" class="C1" /><path d="M 0 0 l 1 1" class="C2" />', styles));
    const [red, odd] = [...lines.style].map((i) => lines.styles[i]);
    expect(red).toEqual({ stroke: "#ff0000", fill: "none", width: 25, opacity: 0.5 });
    expect([odd?.stroke, odd?.fill]).toEqual(["none", "none"]);
  });
  it("leaves out what is no path, and keeps the rest", () => {
    const lines = parse(svg('<script>alert(1)</script><path d="A 1 1 0 0 0 5 5"/><path d=""/><path d="M 1 1 l 2 2"/>'));
    expect(lines.style).toHaveLength(1);
    expect([...lines.opAt]).toEqual([0, 2]);
  });
  it("refuses what is no drawing", () => expect(() => parse("<html>")).toThrow("empty"));
  it("finds most of it without what lies far out", () => {
    const near = Array.from({ length: 200 }, (_, i) => `<path d="M ${i % 10} ${i % 7} l 1 1"/>`).join("");
    const lines = parse(svg(`${near}<path d="M 900 400 l 5 5"/>`));
    expect(whole(lines)).toEqual([0, 0, 905, 405]);
    expect(middle(lines)[2]).toBeLessThan(12);
  });
});

describe("units", () => {
  it("leads from the sheet back to the drawing", () => {
    expect(toDrawing([2, 0, 0, -2, 100, 500], 120, 480)).toEqual([10, 10]);
    expect(toDrawing([0, 0, 0, 0, 1, 1], 5, 5)).toEqual([]);
    expect(toDrawing(undefined, 5, 5)).toEqual([]);
  });
  it("writes six digits", () => expect(number(1234.56789)).toBe("1,234.57"));
});
