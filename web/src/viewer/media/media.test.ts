import { describe, expect, it } from "vitest";
import { captionsOf, cues } from "./captions.ts";
import { first, notesOf, pitch, span, tracksOf, type Note } from "./roll.ts";
import { clock, frame, rate } from "./time.ts";

describe("time", () => {
  it.each([
    [0, false, "0:00.0"],
    [75.54, false, "1:15.5"],
    [3661.25, true, "1:01:01.250"],
    [59.96, false, "0:59.9"],
    [NaN, false, "–:––"],
  ])("writes %d", (seconds, fine, text) => expect(clock(seconds, fine)).toBe(text));
  it("steps by whole frames, from anywhere within one", () => {
    expect(frame(0.31, 1, 10)).toBeCloseTo(0.45);
    expect(frame(0.3, -1, 10)).toBeCloseTo(0.25);
    expect(frame(0, -1, 10)).toBe(0);
  });
  it("reads rates, and doubts nonsense", () => {
    expect(rate("30000/1001")).toBeCloseTo(29.97);
    expect(rate("0/0")).toBe(25);
    expect(rate(undefined)).toBe(25);
  });
});

describe("captions", () => {
  it("reads both kinds", () => {
    const vtt = "WEBVTT\n\n1\n00:01.000 --> 00:02.500 align:left\nHello\nthere\n\nNOTE no cue\n";
    expect(cues(vtt)).toEqual([{ start: 1, end: 2.5, text: "Hello\nthere" }]);
    expect(cues("1\r\n01:00:00,500 --> 01:00:01,000\r\nHi\r\n")[0]?.start).toBe(3600.5);
    expect(cues("00:03.000 --> 00:02.000\nbackwards")).toEqual([]);
  });
  it("finds those of a film", () => {
    const names = ["a/film.vtt", "a/film.en.SRT", "a/filmed.vtt", "b/film.vtt", "a/film.mp4", "a/film.x/y.vtt"];
    expect(captionsOf("a/film.mp4", names)).toEqual(["a/film.vtt", "a/film.en.SRT"]);
  });
});

describe("roll", () => {
  const notes: Note[] = [
    [0, 9, 60, 80, 0, 1],
    [1, 1, 64, 80, 0, 2],
    [5, 1, 67, 80, 9, 2],
  ];
  it("names pitches", () => expect([60, 61, 0].map(pitch)).toEqual(["C4", "C♯4", "C-1"]));
  it("leaves out what is no note", () => {
    expect(notesOf([["x"], null, [1, 2, 3], [2, 1, 60, 1, 0, 0], [1, 1, 60, 1, 0, 0]])).toHaveLength(2);
    expect(notesOf({})).toEqual([]);
  });
  it("tells tracks apart by channel where there is one track", () => {
    expect(tracksOf(notes, ["", "Left", ""]).tracks.map((t) => t.name)).toEqual(["Left", "Track 3"]);
    const single = notes.map((n): Note => [n[0], n[1], n[2], n[3], n[4], 0]);
    expect(tracksOf(single, []).tracks.map((t) => [t.name, t.notes])).toEqual([
      ["Channel 1", 2],
      ["Drums", 1],
    ]);
  });
  it("starts with a long note that still sounds", () => {
    expect(first(notes, 8, 9)).toBe(0);
    expect(first(notes, 5.5, 1)).toBe(2);
  });
  it("shows two octaves at least", () => {
    const [low, high] = span(notes);
    expect(high - low).toBeGreaterThanOrEqual(24);
    expect(low).toBeLessThan(60);
  });
});
