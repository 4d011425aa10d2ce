import { expect, test } from "vitest";
import { KINDS } from "./kinds.ts";
import { blank, bodyOf, experimentFault, faultsOf, refusal } from "./roundForm.ts";

test("a round is asked for what its kind needs, and for nothing else", () => {
  expect(Object.keys(faultsOf(blank("holistic")))).toEqual(["experiment"]);
  expect(Object.keys(faultsOf(blank("audit")))).toEqual(["over"]);
  expect(Object.keys(faultsOf(blank("calibration")))).toEqual(["gold"]);
  expect(faultsOf({ ...blank("holistic"), experiment: "x", over: "" })).toEqual({});
});

test("an experiment that is missing is named", () => {
  expect(experimentFault("", ["x1"])).toMatch(/^Choose/);
  expect(experimentFault("x1", ["x1"])).toBe("");
  expect(experimentFault("x9", ["x1"])).toContain("x9");
  expect(experimentFault("x9")).toBe("");
  expect(experimentFault("", [])).toContain("No experiment has work to judge yet");
  expect(faultsOf({ ...blank("audit"), over: "r1", experiment: "x9" }, ["x1"])).toEqual({});
});

test("a refusal says the first fault and counts the others", () => {
  expect(refusal({})).toBe("");
  expect(refusal({ a: "Choose." })).toBe("Choose.");
  expect(refusal({ a: "Choose.", b: "More." })).toBe("Choose. One more is marked.");
  expect(refusal({ a: "Choose.", b: "More.", c: "Less." })).toBe("Choose. 2 more are marked.");
});

test("what does not count for a kind is not sent, though it was typed", () => {
  const typed = { ...blank("audit"), over: "r1", experiment: "x", holistic: "r2", overlap: 5, waive_pilot: "why" };
  expect(bodyOf(typed)).toEqual({
    kind: "audit", over: "r1", domains: false, training: true, lease_minutes: 15, most_open: 3,
  });
});

test("defaults are left to the server, except what is shown as a number", () => {
  const body = bodyOf({ ...blank("reliability"), over: "r1", positives: 40 });
  expect(body).toMatchObject({ kind: "reliability", sample: 50, positives: 0.4 });
  expect(body).not.toHaveProperty("overlap");
  expect(body).not.toHaveProperty("rule");
});

test("whose criteria are asked is sent with a rubric alone", () => {
  expect(bodyOf({ ...blank("rubric"), experiment: "x", protocol: "program" })).toMatchObject({ protocol: "program" });
  expect(bodyOf({ ...blank("rubric"), experiment: "x" })).not.toHaveProperty("protocol");
  expect(bodyOf({ ...blank("holistic"), experiment: "x", protocol: "program" })).not.toHaveProperty("protocol");
});

test("a tie-break has two votes, whatever was typed before", () => {
  const body = bodyOf({ ...blank("holistic"), experiment: "x", rule: "tie_break", overlap: 5 });
  expect(body).toMatchObject({ rule: "tie_break" });
  expect(body).not.toHaveProperty("overlap");
});

test("gold says what is right in the terms of its form", () => {
  const gold = { subject: " s1 ", second: "s2", expected: { score: "2" }, explanation: "" };
  const draft = { ...blank("calibration"), gold: [gold] };
  expect(bodyOf(draft).gold).toEqual([{ subject: "s1", expected: { score: 2 }, explanation: "" }]);
  expect(bodyOf({ ...draft, form: "tags", gold: [{ ...gold, expected: { tags: "corrupt, odd" } }] }).gold).toEqual([
    { subject: "s1", expected: { tags: ["corrupt", "odd"] }, explanation: "" },
  ]);
  expect(
    bodyOf({ ...draft, form: "rubric", gold: [{ ...gold, expected: { marks: "title=pass, sums = fail" } }] }).gold,
  ).toEqual([{ subject: "s1", expected: { title: "pass", sums: "fail" }, explanation: "" }]);
  expect(faultsOf({ ...draft, form: "pairwise" })).toEqual({ "gold.0": "Say what is right: completion, quality." });
});

test("every kind says what it is for and names fields once", () => {
  for (const kind of KINDS) {
    expect(kind.purpose).toMatch(/\.|\?$/);
    expect(new Set(kind.fields).size).toBe(kind.fields.length);
    expect(kind.over).toBe(kind.fields.includes("over"));
  }
});

test("a qualification asks of jobs, and names what is wrong with a question", () => {
  const draft = blank("qualification");
  expect(faultsOf(draft)).toEqual({ jobs: "Choose at least one job." });
  const one = { name: "licence", text: "May they be used?", decides: true, answers: "" };
  const asks = (changes: object) => faultsOf({ ...draft, jobs: ["j"], questions: [one, { ...one, name: "hard", ...changes }] });
  expect(asks({})).toEqual({});
  for (const wrong of [{ name: "Hard" }, { name: "licence" }, { text: " " }, { answers: "low" }, { answers: "low, high" }]) {
    expect(Object.keys(asks(wrong))).toEqual(["question.1"]);
  }
  expect(bodyOf({ ...draft, jobs: ["j"], questions: [{ ...one, decides: false, answers: "low, high" }] })).toMatchObject({
    kind: "qualification", subjects: ["j"], look: true,
    questions: [{ name: "licence", text: "May they be used?", decides: false, answers: ["low", "high"] }],
  });
});
