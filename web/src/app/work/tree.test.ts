import { describe, expect, it } from "vitest";
import { filesOf, firstOpen, rowsOf, sizeOf, treeOf, windowOf, type Entry } from "./tree.ts";

const file = (path: string, size = 1): Entry => ({ path, kind: "file", size, note: "" });
const paths = (rows: ReturnType<typeof rowsOf>) => rows.map((row) => row.node.path);

describe("a tree", () => {
  const root = treeOf([file("b10.txt"), file("b9.txt"), file("x/y/z.png", 5), file("x/a.png", 7)]);

  it("has folders first, then names by their numbers", () => {
    expect(paths(rowsOf(root, new Set(["", "x", "x/y"])))).toEqual([
      "x", "x/y", "x/y/z.png", "x/a.png", "b9.txt", "b10.txt",
    ]); // prettier-ignore
  });
  it("shows what lies in open folders alone", () => {
    expect(paths(rowsOf(root, new Set()))).toEqual(["x", "b9.txt", "b10.txt"]);
  });
  it("adds up what folders hold", () => {
    expect(root.children[0]?.size).toBe(12);
  });
  it("filters by words, and shows the way", () => {
    expect(paths(rowsOf(root, new Set(), "Z x"))).toEqual(["x", "x/y", "x/y/z.png"]);
    expect(rowsOf(root, new Set(), "nothing")).toEqual([]);
  });
  it("counts levels and siblings from one", () => {
    const row = rowsOf(root, new Set(["x"]))[2];
    expect([row?.node.path, row?.level, row?.position, row?.siblings]).toEqual(["x/a.png", 2, 2, 2]);
  });
  it("keeps an empty folder", () => {
    const empty = treeOf([{ path: "out", kind: "folder", size: 0, note: "empty" }]);
    expect(paths(rowsOf(empty, new Set()))).toEqual(["out"]);
    expect(filesOf(empty)).toEqual([]);
  });
  it("takes names that objects have by themselves", () => {
    expect(paths(rowsOf(treeOf([file("__proto__/constructor")]), new Set(["__proto__"])))).toEqual([
      "__proto__", "__proto__/constructor",
    ]); // prettier-ignore
  });
});

describe("ten thousand files", () => {
  const root = treeOf(Array.from({ length: 10_000 }, (_, n) => file(`out/d${n % 100}/f${n}.txt`)));

  it("open with the one folder that holds all", () => {
    expect([...firstOpen(root)]).toEqual(["", "out"]);
    expect(rowsOf(root, firstOpen(root))).toHaveLength(101);
  });
  it("are filtered in a blink", () => {
    const start = performance.now();
    const shown = rowsOf(root, new Set(), "f99").filter((row) => !row.node.folder);
    expect(performance.now() - start).toBeLessThan(200);
    // f99, f990 to f999 and f9900 to f9999.
    expect(shown).toHaveLength(1 + 10 + 100);
  });
});

describe("the window", () => {
  it("draws some rows of many", () => {
    expect(windowOf(10_000, 2400, 240, 24, 2)).toEqual({ first: 98, last: 112 });
    expect(windowOf(3, 0, 240, 24)).toEqual({ first: 0, last: 3 });
    expect(windowOf(3, 9999, 240, 24)).toEqual({ first: 3, last: 3 });
  });
});

it.each([[0, "0 B"], [999, "999 B"], [1000, "1.0 KB"], [12_345, "12 KB"], [4_200_000, "4.2 MB"], [999_600, "1.0 MB"]])(
  "%d bytes are %s",
  (bytes, text) => expect(sizeOf(bytes)).toBe(text),
);
