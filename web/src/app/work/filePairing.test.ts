import { expect, it } from "vitest";
import { commonFolder, pairsOf } from "./filePairing.ts";

const pairs = (a: string[], b: string[]) => Object.fromEntries(pairsOf(a, b));

it("pairs what lies at the same place before what has the same name", () => {
  expect(pairs(["a/x.png", "b/x.png"], ["a/x.png", "c/x.png"])).toEqual({ "a/x.png": "a/x.png", "b/x.png": "c/x.png" });
});
it("looks past the folder that holds everything", () => {
  expect(pairs(["final/a/x.png", "final/b/x.png"], ["a/x.png", "b/x.png"])).toEqual({
    "final/a/x.png": "a/x.png",
    "final/b/x.png": "b/x.png",
  });
});
it("takes other spellings and formats of a name", () => {
  expect(pairs(["Floor Plan.dwg", "notes.md"], ["floor_plan.pdf", "notes.md"])).toEqual({
    "Floor Plan.dwg": "floor_plan.pdf",
    "notes.md": "notes.md",
  });
});
it("pairs nothing by a name that stands twice", () => {
  expect(pairs(["x.png", "q.txt"], ["a/x.png", "b/x.png"])).toEqual({});
});
it("pairs two that are alone, whatever their names", () => {
  expect(pairs(["logo.svg"], ["out/mark.png"])).toEqual({ "logo.svg": "out/mark.png" });
});
it("pairs one to one", () => {
  const found = pairsOf(["a.png", "a.jpg"], ["a.png", "a.webp"]);
  expect(new Set(found.values()).size).toBe(found.size);
  expect(found.get("a.png")).toBe("a.png");
  expect(found.get("a.jpg")).toBe("a.webp");
});
it("takes nothing", () => {
  expect(pairs([], ["a"])).toEqual({});
  expect(commonFolder([])).toBe("");
  expect(commonFolder(["a/b/c", "a/bc"])).toBe("a/");
});
