import { describe, expect, it } from "vitest";
import { appOrigin, isContent } from "./bridge.ts";

const here = { protocol: "http:", host: "v.ws.localhost:8765" };
const label = "abcdefghijklmnopqrstuvwxyz234567";
const good = `http://${label}.c.ws.localhost:8765`;

describe("origins", () => {
  it("is the app's without the first label", () => {
    expect(appOrigin(here)).toBe("http://ws.localhost:8765");
    expect(appOrigin({ protocol: "https:", host: "v.review.example.org" })).toBe("https://review.example.org");
  });
  it("takes a deliverable's", () => expect(isContent(good, here)).toBe(true));
  it.each([
    "http://ws.localhost:8765",
    "http://c.ws.localhost:8765",
    `http://${label}.c.ws.localhost:9999`,
    `https://${label}.c.ws.localhost:8765`,
    `http://evil.example/${label}.c.ws.localhost:8765`,
    `http://evil@${label}.c.ws.localhost:8765`,
    `${good}/`,
    `http://short.c.ws.localhost:8765`,
    "",
  ])("refuses %s", (origin) => expect(isContent(origin, here)).toBe(false));
});
