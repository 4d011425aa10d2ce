import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";
import { describe, expect, it } from "vitest";
import { inSmallLetters } from "./stl.ts";

const SMALL = `solid cube
  facet normal 0 0 1
    outer loop
      vertex 0 0 0
      vertex 1.5e+1 0 0
      vertex 0 1 0
    endloop
  endfacet
endsolid cube
`;
const encoded = (text: string) => new TextEncoder().encode(text).buffer as ArrayBuffer;
const corners = (data: ArrayBuffer) => [...new STLLoader().parse(inSmallLetters(data)).getAttribute("position")!.array];

describe("an STL as text", () => {
  it.each([SMALL, SMALL.toUpperCase(), SMALL.replaceAll("facet", "FACET"), `\n ${SMALL.toUpperCase()}`])(
    "is read in small and in large letters: %s",
    (text) => {
      expect(corners(encoded(text))).toEqual([0, 0, 0, 15, 0, 0, 0, 1, 0]);
    },
  );
  it("is not copied if its words are small already", () => {
    const data = encoded(SMALL);
    expect(inSmallLetters(data)).toBe(data);
  });
});

it("leaves a binary STL alone whose header begins as text does", () => {
  const data = new ArrayBuffer(84 + 50);
  new Uint8Array(data).set(new TextEncoder().encode("SOLID part FACET NORMAL"));
  new DataView(data).setUint32(80, 1, true);
  new DataView(data).setFloat32(84 + 12, 3, true);
  expect(inSmallLetters(data)).toBe(data);
  expect(corners(data)[0]).toBe(3);
});
