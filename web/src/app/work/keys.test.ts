import { describe, expect, it } from "vitest";
import { BINDINGS, DIGITS, chord, meaningOf, working, type Press, type Screen } from "./keys.ts";

const press = (key: string, more: Partial<Press> = {}): Press => ({
  key, code: "", ctrl: false, shift: false, alt: false, meta: false, ...more,
}); // prettier-ignore

it("gives each key to one action", () => {
  const keys = [...Object.values(BINDINGS).map((binding) => binding.key), ...DIGITS];
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
});
it("finds every action by the key that is printed", () => {
  for (const [action, { key }] of Object.entries(BINDINGS)) {
    const plain = key.replace("Ctrl+", "");
    expect(meaningOf(press(plain, { ctrl: key !== plain }))).toEqual({ action });
  }
});
it("takes letters with Caps Lock and Command in place of Control", () => {
  expect(chord(press("B"))).toBe("b");
  expect(chord(press("Enter", { meta: true }))).toBe("Ctrl+Enter");
});
it("tells digits from digits with Shift, whatever the keyboard prints there", () => {
  expect(meaningOf(press("2", { code: "Digit2" }))).toEqual({ answer: 1 });
  expect(meaningOf(press('"', { code: "Digit2", shift: true }))).toEqual({ pane: 1 });
});
it("leaves the browser's own keys alone", () => {
  for (const own of [press("s", { ctrl: true }), press("f", { ctrl: true }), press("Tab", { shift: true })]) {
    expect(meaningOf(own)).toBeUndefined();
  }
  expect(meaningOf(press("b", { alt: true }))).toBeUndefined();
});

describe("the overlay", () => {
  const holistic: Screen = {
    panes: 3, sides: 2, flipping: false, criteria: 0, answers: 3, yesNo: true, reason: true, flaw: true,
    feedback: false, notes: false,
  }; // prettier-ignore
  const keys = (screen: Partial<Screen>) => working({ ...holistic, ...screen }).map((binding) => binding.key);

  it("lists no key of a rubric where there is none", () => {
    expect(keys({})).not.toContain("j");
    expect(working(holistic).filter((binding) => binding.group === "Rubric")).toEqual([]);
    const rubric = { criteria: 2, feedback: true, yesNo: false, reason: false, flaw: false };
    expect(keys(rubric)).toEqual(expect.arrayContaining(["j", "k", "r"]));
    for (const other of ["y", "n", "w", "c"]) expect(keys(rubric)).not.toContain(other);
  });
  it("counts the answers and the panes", () => {
    expect(keys({})).toEqual(expect.arrayContaining(["1 – 3", "Shift+1 – 3"]));
    expect(keys({ answers: 0 }).some((key) => key.startsWith("1"))).toBe(false);
  });
  it("names Tab where it flips, and notes where there are some", () => {
    expect(keys({})).not.toContain("Tab");
    expect(keys({ flipping: true })).toContain("Tab");
    expect(keys({ flipping: true, sides: 1 })).not.toContain("Tab");
    expect(keys({})).not.toContain("o");
    expect(keys({ notes: true })).toContain("o");
  });
  it("lists every key of the table on some screen", () => {
    const all = keys({ criteria: 2, feedback: true, flipping: true, notes: true });
    expect(Object.values(BINDINGS).map((binding) => binding.key).filter((key) => !all.includes(key))).toEqual([]);
  });
});
