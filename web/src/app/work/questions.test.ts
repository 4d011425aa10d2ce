import { describe, expect, it } from "vitest";
import { Asked, type Ask, type Criterion } from "./questions.ts";

const ask = (name: string, type: Ask["type"], values: string[] = [], required = true): Ask => ({
  name, type, label: name, options: values.map((value) => ({ value, label: value })), required, when: "",
}); // prettier-ignore
const leaf = (id: string, parts: Criterion[] = []): Criterion => ({
  id, text: id, points: 1, importance: null, by: "person", gate: false, implies_others: false, parts,
}); // prettier-ignore
const holistic = new Asked({
  asks: [
    ask("score", "choice", ["1", "2", "3"]),
    ask("justification", "text"),
    ask("critical_flaw", "text", [], false),
    ask("inspected", "yes_no", [], false),
    ask("recognised", "choice", ["no", "guess", "yes"], false),
  ],
  criteria: { criteria: [] },
  early_stop: true,
});
const rubric = new Asked({
  asks: [ask("marks", "criteria", ["pass", "fail", "not_applicable"]), ask("feedback", "criteria", [], false)],
  criteria: { criteria: [leaf("a"), leaf("b", [leaf("b1"), leaf("b2")])] },
  early_stop: false,
});

describe("digits", () => {
  it("run through all questions with options", () => {
    expect(holistic.digit("score", "3")).toBe("3");
    expect(holistic.digit("recognised", "yes")).toBe("6");
    expect(holistic.digit("score", "4")).toBe("");
  });
  it("mark criteria", () => expect(rubric.digit("marks", "fail")).toBe("2"));
});

describe("what is missing", () => {
  it("asks why a job is not fit", () => {
    const job = new Asked({
      asks: [ask("fit", "choice", ["yes", "no"]), ask("fit_why", "text", [], false)],
      criteria: { criteria: [] },
      early_stop: false,
    });
    expect(job.missing({ fit: "no" }, false)).toEqual({ fit_why: "Write a reason." });
    expect(job.missing({ fit: "no", fit_why: "gone.pdf" }, false)).toEqual({});
    expect(job.missing({ fit: "yes" }, false)).toEqual({});
  });
  it("names each question that must be answered", () => {
    expect(Object.keys(holistic.missing({}, false))).toEqual(["score", "justification"]);
    expect(holistic.missing({ score: "2", justification: " x " }, false)).toEqual({});
    expect(holistic.missing({ score: "2", justification: "  " }, false)).toHaveProperty("justification");
  });
  it("asks whether it could be inspected where a viewer could not show it", () => {
    const given = { score: "2", justification: "x" };
    expect(Object.keys(holistic.missing(given, true))).toEqual(["inspected"]);
    expect(holistic.missing({ ...given, inspected: false }, true)).toEqual({});
  });
  it("takes a critical flaw as the reason, and fails the work", () => {
    const given = holistic.answered({ score: "3" }, "critical_flaw", "it does not open");
    expect(given.score).toBe("1");
    expect(holistic.missing(given, false)).toEqual({});
    expect(holistic.missing({ ...given, score: "2" }, false)).toHaveProperty("critical_flaw");
  });
  it("goes criterion by criterion through the leaves", () => {
    const given = { marks: { a: "pass", b1: "fail", b2: "not_applicable" }, feedback: { b2: "no such file" } };
    expect(rubric.leaves.map((found) => found.criterion.id)).toEqual(["a", "b1", "b2"]);
    expect(rubric.leaves[1]?.within).toEqual(["b"]);
    expect(rubric.missing(given, false)).toEqual({ b1: "Say why." });
    expect(Object.keys(rubric.missing({}, false))).toEqual(["a", "b1", "b2"]);
  });
});
