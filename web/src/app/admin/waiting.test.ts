import { expect, test } from "vitest";
import { betweenText, hoursText, payText } from "./waiting.ts";

test("hours and pay that are unknown or none are said to be so", () => {
  expect([0, 0.05, 2.25].map(hoursText)).toEqual(["none", "under 0.1 h", "2.3 h"]);
  expect([null, 0, 12.5].map(payText)).toEqual(["no pay rate known", "$0.00", "$12.50"]);
});

test("who parts is said in words", () => {
  expect(betweenText(["person"])).toBe("two people");
  expect(betweenText(["judge", "person"])).toBe("a judge and people");
  expect(betweenText(["judge", "person", "program"])).toBe("a judge, people and a program");
});
