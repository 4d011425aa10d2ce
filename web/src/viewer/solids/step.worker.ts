/** Worker that reads STEP with OpenCascade; a part of a few megabytes takes seconds. */

import occtSource from "occt-import-js/dist/occt-import-js.js?url";
import occtWasm from "occt-import-js/dist/occt-import-js.wasm?url";
import { withoutEval } from "./closures.ts";

type Colour = [number, number, number];

/** Result of occt-import-js. */
interface Found {
  success: boolean;
  root: Node;
  meshes: {
    name: string;
    color?: Colour;
    brep_faces: { first: number; last: number; color: Colour | null }[];
    attributes: { position: { array: number[] }; normal?: { array: number[] } };
    index: { array: number[] };
  }[];
}
export interface Node {
  name: string;
  meshes: number[];
  children: Node[];
}
export interface Body {
  name: string;
  position: Float32Array;
  normal: Float32Array | null;
  index: Uint32Array;
  colours: (Colour | null)[];
  /** start and count in the index, number of the colour */
  groups: [number, number, number][];
}
export interface Assembly {
  root: Node;
  bodies: Body[];
}

self.onmessage = async ({ data }: MessageEvent<ArrayBuffer>) => {
  try {
    const answer = await read(new Uint8Array(data));
    const buffers = answer.bodies.flatMap((b) => [b.position.buffer, b.index.buffer, ...(b.normal ? [b.normal.buffer] : [])]);
    self.postMessage({ answer }, { transfer: buffers });
  } catch (fault) {
    const what = fault instanceof Error ? fault.message : String(fault);
    self.postMessage({ fault: `The STEP file cannot be read: ${what}` });
  }
};

async function read(data: Uint8Array): Promise<Assembly> {
  self.postMessage({ progress: "Loading the STEP reader" });
  // The library is a classic script; with an export it becomes a module.
  const [text, wasmBinary] = await Promise.all([
    fetch(occtSource).then((answer) => answer.text()),
    fetch(occtWasm).then((answer) => answer.arrayBuffer()),
  ]);
  const address = URL.createObjectURL(
    new Blob([withoutEval(text), "\nexport default occtimportjs;"], { type: "text/javascript" }),
  );
  const { default: start } = await import(/* @vite-ignore */ address);
  URL.revokeObjectURL(address);
  const quiet = () => undefined;
  const occt = await start({ wasmBinary, print: quiet, printErr: quiet });
  self.postMessage({ progress: "Reading the part" });
  const found = occt.ReadStepFile(data, null) as Found;
  if (!found.success) throw new Error("it is damaged, or not a STEP file.");
  return { root: found.root, bodies: found.meshes.map(body) };
}

function body(mesh: Found["meshes"][number]): Body {
  const colours: (Colour | null)[] = [mesh.color ?? null];
  const groups: Body["groups"] = [];
  for (const face of mesh.brep_faces ?? []) {
    const colour = face.color ?? mesh.color ?? null;
    let number = colours.findIndex((known) => String(known) === String(colour));
    if (number < 0) number = colours.push(colour) - 1;
    const last = groups.at(-1);
    const [start, length] = [face.first * 3, (face.last - face.first + 1) * 3];
    if (last && last[2] === number && last[0] + last[1] === start) last[1] += length;
    else groups.push([start, length, number]);
  }
  const { position, normal } = mesh.attributes;
  return {
    name: mesh.name,
    position: Float32Array.from(position.array),
    normal: normal ? Float32Array.from(normal.array) : null,
    index: Uint32Array.from(mesh.index.array),
    colours,
    groups,
  };
}
