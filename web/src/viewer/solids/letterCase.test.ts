import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { PLYLoader } from "three/examples/jsm/loaders/PLYLoader.js";
import { expect, it } from "vitest";
import { objInSmallLetters, plyInSmallLetters } from "./letterCase.ts";

const PLY = `ply
format ascii 1.0
comment made by hand
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1.5e+1 0 0
0 1 0
3 0 1 2
`;
const OBJ = "o Cube\nmtllib Red.mtl\nv 0 0 0\nv 15 0 0\nv 0 1 0\nusemtl Red\nf 1 2 3\n";
const encoded = (text: string) => new TextEncoder().encode(text).buffer as ArrayBuffer;

it.each([PLY, PLY.toUpperCase(), PLY.replaceAll("\n", "\r\n").toUpperCase()])(
  "a PLY as text is read in small and in large letters: %s",
  (text) => {
    const geometry = new PLYLoader().parse(plyInSmallLetters(encoded(text)));
    expect([...geometry.getAttribute("position")!.array]).toEqual([0, 0, 0, 15, 0, 0, 0, 1, 0]);
    expect([...geometry.getIndex()!.array]).toEqual([0, 1, 2]);
  },
);

it("a PLY in small letters is not copied, and of another only the header changes", () => {
  const data = encoded(PLY);
  expect(plyInSmallLetters(data)).toBe(data);
  const large = new Uint8Array(plyInSmallLetters(encoded(PLY.slice(0, PLY.indexOf("0 0 0")).toUpperCase() + "ABC")));
  expect(new TextDecoder().decode(large)).toBe(PLY.slice(0, PLY.indexOf("0 0 0")) + "ABC");
});

it.each([OBJ, OBJ.replaceAll(/^\w+/gm, (word) => word.toUpperCase())])(
  "an OBJ is read in small and in large letters, and names keep theirs: %s",
  (text) => {
    const [cube] = new OBJLoader().parse(objInSmallLetters(text)).children as unknown as {
      name: string;
      material: { name: string };
      geometry: { getAttribute: (name: string) => { array: Float32Array } };
    }[];
    expect([cube!.name, cube!.material.name]).toEqual(["Cube", "Red"]);
    expect([...cube!.geometry.getAttribute("position").array]).toEqual([0, 0, 0, 15, 0, 0, 0, 1, 0]);
  },
);
