/** Worker that reads OBJ, STL and PLY, which can have millions of lines. */

import { type BufferAttribute, BufferGeometry, type Material, type Mesh, type MeshPhongMaterial, type Object3D } from "three";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { PLYLoader } from "three/examples/jsm/loaders/PLYLoader.js";
import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";
import { objInSmallLetters, plyInSmallLetters } from "./letterCase.ts";
import { inSmallLetters } from "./stl.ts";

export interface Piece {
  name: string;
  form: "mesh" | "points" | "lines";
  attributes: Record<string, { array: Float32Array; size: number }>;
  index: Uint32Array | Uint16Array | null;
  groups: { start: number; count: number; materialIndex?: number }[];
  /** Names of materials, by group number. */
  materials: { name: string; flat: boolean }[];
}

export interface Order {
  format: "OBJ" | "STL" | "PLY";
  data: ArrayBuffer;
}

// Ignore the readers' own warnings; counting the model reports faults in our words.
console.error = console.warn = () => undefined;

const KEPT = ["position", "normal", "uv", "color"];

self.onmessage = ({ data: { format, data } }: MessageEvent<Order>) => {
  try {
    const pieces = format === "OBJ" ? obj(data) : [format === "STL" ? stl(data) : ply(data)];
    const transfer = pieces.flatMap((piece) => [
      ...Object.values(piece.attributes).map(({ array }) => array.buffer),
      ...(piece.index ? [piece.index.buffer] : []),
    ]);
    self.postMessage({ answer: pieces }, { transfer: [...new Set(transfer)] as Transferable[] });
  } catch (fault) {
    self.postMessage({ fault: `The model is damaged: ${fault instanceof Error ? fault.message : String(fault)}` });
  }
};

function stl(data: ArrayBuffer): Piece {
  const geometry = new STLLoader().parse(inSmallLetters(data));
  // Compute normals from the order of corners; stored normals are often zero or wrong.
  geometry.deleteAttribute("normal");
  geometry.computeVertexNormals();
  return piece("", "mesh", geometry, []);
}

function ply(data: ArrayBuffer): Piece {
  const geometry = new PLYLoader().parse(plyInSmallLetters(data));
  const faces = geometry.getIndex() !== null;
  if (faces && !geometry.getAttribute("normal")) geometry.computeVertexNormals();
  return piece("", faces ? "mesh" : "points", geometry, []);
}

function obj(data: ArrayBuffer): Piece[] {
  const root = new OBJLoader().parse(objInSmallLetters(new TextDecoder().decode(data)));
  return (root.children as (Object3D & Pick<Mesh, "geometry" | "material">)[]).map((child) => {
    const form = "isMesh" in child ? "mesh" : "isPoints" in child ? "points" : "lines";
    if (form === "mesh" && !child.geometry.getAttribute("normal")) child.geometry.computeVertexNormals();
    const materials = [child.material].flat().map((material: Material) => ({
      name: material.name,
      flat: (material as MeshPhongMaterial).flatShading === true,
    }));
    return piece(child.name, form, child.geometry, materials);
  });
}

function piece(name: string, form: Piece["form"], geometry: BufferGeometry, materials: Piece["materials"]): Piece {
  const attributes: Piece["attributes"] = {};
  for (const key of KEPT) {
    const found = geometry.getAttribute(key) as BufferAttribute | undefined;
    if (found) attributes[key] = { array: plain(found), size: found.itemSize };
  }
  const index = (geometry.getIndex()?.array ?? null) as Piece["index"];
  return { name, form, attributes, index, groups: geometry.groups, materials };
}

function plain(attribute: BufferAttribute): Float32Array<ArrayBuffer> {
  if (attribute.array instanceof Float32Array) return attribute.array as Float32Array<ArrayBuffer>;
  return Float32Array.from({ length: attribute.count * attribute.itemSize }, (_, i) =>
    attribute.getComponent(Math.floor(i / attribute.itemSize), i % attribute.itemSize),
  );
}
