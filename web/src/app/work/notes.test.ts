import { expect, it } from "vitest";
import { firstMet } from "./notes.ts";

function shelf(kept: Record<string, string> = {}) {
  return { getItem: (key: string) => kept[key] ?? null, setItem: (key: string, value: string) => void (kept[key] = value) };
}

it("is the first time once for each person, round and version", () => {
  const here = shelf();
  expect(firstMet(here, "ann", "r1", "v1")).toBe(true);
  expect(firstMet(here, "ann", "r1", "v1")).toBe(false);
  expect(firstMet(here, "ann", "r2", "v1")).toBe(true);
  expect(firstMet(here, "ann", "r1", "v2")).toBe(true);
  expect(firstMet(here, "bob", "r1", "v1")).toBe(true);
  expect(firstMet(here, "ann", "r2", "v1")).toBe(false);
});
it("starts anew where what is kept is none of its own", () => {
  for (const kept of ["{", '{"a":1}', "[1,null]"]) {
    const here = shelf({ "ws.notes": kept });
    expect(firstMet(here, "ann", "r1", "v1")).toBe(true);
    expect(firstMet(here, "ann", "r1", "v1")).toBe(false);
  }
});
it("forgets the oldest of many", () => {
  const here = shelf();
  for (let n = 0; n < 201; n++) firstMet(here, "ann", `r${n}`, "v1");
  expect(firstMet(here, "ann", "r200", "v1")).toBe(false);
  expect(firstMet(here, "ann", "r0", "v1")).toBe(true);
});
