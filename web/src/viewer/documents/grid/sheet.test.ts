import { expect, it } from "vitest";
import { copied, edges, isNumber, Sheet, widths, type Cell, type Where } from "./sheet.ts";

function numbers(rows: number, skip = 0): { sheet: Sheet; loads: number[] } {
  const loads: number[] = [];
  const load = (chunk: number): Promise<Cell[][]> => {
    loads.push(chunk);
    const first = chunk * 10;
    return Promise.resolve(Array.from({ length: Math.min(10, rows + skip - first) }, (_, i) => [first + i, "x"]));
  };
  return { sheet: new Sheet(rows, 2, 10, load, skip), loads };
}

it("loads the chunks that are looked at, each once", async () => {
  const { sheet, loads } = numbers(100);
  expect(await sheet.want(8, 12)).toBe(true);
  expect(loads).toEqual([0, 1]);
  expect(await sheet.want(9, 20)).toBe(false);
  expect(sheet.row(12)).toEqual([12, "x"]);
  expect(sheet.row(50)).toBeUndefined();
});
it("leaves a header out", async () => {
  const { sheet } = numbers(99, 1);
  await sheet.want(0, 99);
  expect(sheet.row(0)?.[0]).toBe(1);
  expect(sheet.row(98)?.[0]).toBe(99);
});
it("finds in all rows, also those that were not looked at", async () => {
  const { sheet } = numbers(95, 1);
  let found: Where[] = [];
  await sheet.find("94", new AbortController().signal, (hits) => (found = hits));
  expect(found).toEqual([{ row: 93, column: 0 }]);
});
it("tries a chunk again that failed", async () => {
  let broken = true;
  const sheet = new Sheet(1, 1, 10, () => (broken ? Promise.reject(new Error("no")) : Promise.resolve([[1]])));
  await expect(sheet.want(0, 1)).rejects.toThrow("no");
  broken = false;
  expect(await sheet.want(0, 1)).toBe(true);
});
it("copies a block as spreadsheets read it", async () => {
  const sheet = Sheet.of([["a", 'say "b"\tc'], [null, true]], 2);
  await sheet.want(0, 2);
  expect(copied(sheet, { row: 1, column: 1 }, { row: 0, column: 0 })).toBe('a\t"say ""b""\tc"\n\tTRUE');
});
it("sets numbers to the right, however they are written", () => {
  expect([1, "1,234.5", "-3 %", "€20", "12 pears", "", null].map(isNumber)).toEqual([true, true, true, true, false, false, false]);
});
it("lays out as many columns as a workbook can have", () => {
  const all = edges(widths(16_384, ["a".repeat(99)], [["b"]]));
  expect(all).toHaveLength(16_385);
  expect([all[1], all[16_384]]).toEqual([340, 340 + 16_383 * 56]);
});
