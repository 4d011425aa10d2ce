import { expect, it } from "vitest";
import { addressed, count, letters, readable, size } from "./names.ts";

it("reads quoted paths, and leaves what is no text", () => {
  expect(readable("a/100%25.png")).toBe("a/100%.png");
  expect(readable("a%FF.txt")).toBe("a%FF.txt");
});
it("writes sizes", () => {
  expect([0, 999, 1500, 20_000_000].map(size)).toEqual(["0 bytes", "999 bytes", "1.5 KB", "20 MB"]);
});
it("counts", () => expect([count(1, "page"), count(20000, "page")]).toEqual(["1 page", "20,000 pages"]));
it("letters columns as spreadsheets do", () => {
  expect([0, 25, 26, 701, 702, 16383].map(letters)).toEqual(["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
});
it("turns quoted paths into addresses", () => {
  expect(addressed("a b/100%25/ü%FF#?.html")).toBe("a%20b/100%25/%C3%BC%FF%23%3F.html");
});
