import { expect, test } from "vitest";
import { charactersOf } from "./keys.ts";

const press = (key: string, held: string[] = []) => ({
  key,
  ctrlKey: held.includes("ctrl"),
  altKey: held.includes("alt"),
  metaKey: held.includes("meta"),
  shiftKey: held.includes("shift"),
});

test("keys are what terminals send", () => {
  expect(charactersOf(press("Enter"), false)).toBe("\r");
  expect(charactersOf(press("ArrowUp"), false)).toBe("\x1b[A");
  expect(charactersOf(press("ArrowUp"), true)).toBe("\x1bOA");
  expect(charactersOf(press("ArrowLeft", ["ctrl"]), false)).toBe("\x1b[1;5D");
  expect(charactersOf(press("c", ["ctrl"]), false)).toBe("\x03");
  expect(charactersOf(press("[", ["ctrl"]), false)).toBe("\x1b");
  expect(charactersOf(press("b", ["alt"]), false)).toBe("\x1bb");
});

test("the browser keeps text, copying, and the way out", () => {
  expect(charactersOf(press("a"), false)).toBe("");
  expect(charactersOf(press("C", ["ctrl", "shift"]), false)).toBe("");
  expect(charactersOf(press("Tab", ["shift"]), false)).toBe("");
  expect(charactersOf(press("v", ["meta"]), false)).toBe("");
});
