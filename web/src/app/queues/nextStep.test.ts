import { describe, expect, it } from "vitest";
import { nextStep, type QueueView } from "./nextStep.ts";

const queue = (more: Partial<QueueView>): QueueView => ({
  round: "r", kind: "holistic", form: "holistic", title: "", experiment: "", state: "open", missing: "",
  mine: { open: 0, done: 0, skipped: 0 }, left: 3, soft_limit_minutes: 20, passed: null, ...more,
}); // prettier-ignore
const quiz = (more: Partial<QueueView> = {}) => queue({ round: "q/1", kind: "calibration", ...more });

describe("the next step", () => {
  it("is the open item before any other", () => {
    expect(nextStep(queue({ mine: { open: 1, done: 4, skipped: 0 }, left: 0 }), [])?.label).toBe("Continue");
  });
  it("starts, and goes on", () => {
    expect(nextStep(queue({}), [])).toEqual({ label: "Start", to: "/work/r", work: true });
    expect(nextStep(queue({ mine: { open: 0, done: 1, skipped: 0 } }), [])?.label).toBe("Next item");
  });
  it("is what is missing", () => {
    expect(nextStep(queue({ missing: "read the training page first" }), [])?.to).toBe("/training");
    const needs = queue({ missing: "pass the quiz first" });
    expect(nextStep(needs, [needs, quiz()])?.to).toBe("/work/q%2F1");
    expect(nextStep(needs, [needs, quiz({ missing: "read the training page first" })])?.to).toBe("/training");
  });
  it("is nothing where nothing can be done", () => {
    const needs = queue({ missing: "pass the quiz first" });
    expect(nextStep(needs, [needs, quiz({ passed: false })])).toBeUndefined();
    expect(nextStep(queue({ left: 0 }), [])).toBeUndefined();
    expect(nextStep(queue({ state: "paused" }), [])).toBeUndefined();
    expect(nextStep(queue({ missing: "you have seen who made what in this round" }), [])).toBeUndefined();
  });
});
