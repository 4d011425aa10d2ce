import { describe, expect, it } from "vitest";
import { fromViewer, toViewer } from "./protocol.ts";

const show = { ws: 1, type: "show", content: "http://x", path: ["a"], theme: "dark", pane: "AD-1" };
const shown = {
  ws: 1, type: "shown", path: ["a"], kind: "pdf", badge: "native", problem: "", inspectable: true, ms: 3, report: { pages: 2 },
}; // prettier-ignore
const key = { ws: 1, type: "key", key: "j", code: "KeyJ", ctrl: false, shift: false, alt: false, meta: false };
const state = { ws: 1, type: "state", state: { kind: "model", camera: [1, 2, 3] } };
const nothing = [null, undefined, "ws", 1, {}, { ws: "1" }, { ws: 2, type: "find" }, [], { ws: 1 }, { ws: 1, type: "constructor" }];
const polluting: unknown = JSON.parse('{"ws": 1, "__proto__": {"type": "find"}}');

describe("what a viewer hears", () => {
  it.each([show, { ws: 1, type: "theme", theme: "light" }, { ...state, type: "sync" }, { ws: 1, type: "find" }])(
    "knows its own: %j",
    (data) => expect(toViewer(data)).toBe(data),
  );
  it.each([
    ...nothing,
    polluting,
    { ...show, path: [] },
    { ...show, path: "a" },
    { ...show, path: [1] },
    { ...show, path: Array(21).fill("a") },
    { ...show, path: ["a".repeat(30_000)] },
    { ...show, content: 3 },
    { ...show, theme: "pink" },
    { ws: 1, type: "sync", state: null },
    { ws: 1, type: "sync", state: { kind: "pdf", page: "2" } },
    { ws: 1, type: "sync", state: { kind: "model", camera: [Number.NaN] } },
    shown,
  ])("refuses %j", (data) => expect(toViewer(data)).toBeUndefined());
});

describe("what the app hears", () => {
  it.each([shown, key, state, { ws: 1, type: "open", path: ["a", "b"] }, { ws: 1, type: "ready" }, { ws: 1, type: "active" }])(
    "knows its own: %j",
    (data) => expect(fromViewer(data)).toBe(data),
  );
  it.each([
    ...nothing,
    polluting,
    { ...shown, path: undefined },
    { ...shown, path: "a" },
    { ...shown, report: null },
    { ...shown, report: [1] },
    { ...shown, inspectable: "yes" },
    { ...shown, badge: "x".repeat(30_000) },
    { ...key, key: 3 },
    { ...key, ctrl: undefined },
    { ...state, state: null },
    { ...state, state: { kind: {} } },
    { ws: 1, type: "open" },
    { ws: 1, type: "open", path: { length: 1 } },
    show,
  ])("refuses %j", (data) => expect(fromViewer(data)).toBeUndefined());
});
