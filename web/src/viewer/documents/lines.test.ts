import { describe, expect, it } from "vitest";
import { find, part, pieces, rows, type Token } from "./lines.ts";

const tokens: Token[] = [
  ["k", "import"],
  ["", " "],
  ["nn", "os"],
];

it("continues long lines on further rows and keeps empty ones", () => {
  expect(rows(["", "abcde"], 2)).toEqual([
    { line: 0, from: 0, to: 0 },
    { line: 1, from: 0, to: 2 },
    { line: 1, from: 2, to: 4 },
    { line: 1, from: 4, to: 5 },
  ]);
});
it("cuts tokens where a row does", () => {
  expect(part(tokens, 3, 8)).toEqual([
    ["k", "ort"],
    ["", " "],
    ["nn", "o"],
  ]);
});
describe("find", () => {
  it("whatever the case, several in a line", () => {
    expect(find(["aAb", "xa"], "A")).toEqual([
      { line: 0, from: 0, to: 1 },
      { line: 0, from: 1, to: 2 },
      { line: 1, from: 1, to: 2 },
    ]);
  });
  it("nothing for nothing, and no more than the limit", () => {
    expect(find(["aaa"], "")).toEqual([]);
    expect(find(["aaa"], "a", 2)).toHaveLength(2);
  });
});
it("marks hits across tokens and loses no character", () => {
  const hits = find(["import os"], "rt o");
  const made = pieces(tokens, { line: 0, from: 0, to: 9 }, hits, hits[0]);
  expect(made.map((p) => p.text).join("")).toBe("import os");
  expect(made.filter((p) => p.hit === "now").map((p) => p.text)).toEqual(["rt", " ", "o"]);
});
