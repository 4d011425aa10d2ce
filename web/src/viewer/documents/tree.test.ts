import { expect, it } from "vitest";
import { grow, unfold, type Member } from "./tree.ts";

const file = (path: string, size = 1): Member => ({ path, kind: "file", size, note: "", open: true });

it("puts folders first, adds sizes, and sorts numbers as numbers", () => {
  const root = grow([file("b10.txt", 3), file("b9.txt", 4), file("z/deep/x.txt", 5), { ...file("z/"), kind: "folder" }]);
  expect(root.children.map((node) => [node.name, node.size])).toEqual([["z", 5], ["b9.txt", 4], ["b10.txt", 3]]);
});
it("shows what lies in open folders", () => {
  const root = grow([file("a/b/c.txt"), file("d.txt")]);
  expect(unfold(root, new Set()).map((line) => line.node.name)).toEqual(["a", "d.txt"]);
  expect(unfold(root, new Set(["a", "a/b"])).map((line) => [line.node.name, line.depth])).toEqual([
    ["a", 0], ["b", 1], ["c.txt", 2], ["d.txt", 0],
  ]);
});
it("stands names that lead elsewhere and folders nested without end", () => {
  const root = grow([file("/etc/passwd"), file("./x"), file(`${"a/".repeat(5_000)}x`)]);
  expect(root.size).toBe(3);
});
