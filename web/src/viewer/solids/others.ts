/** FBX, 3DS, COLLADA and 3MF. */

import type { Object3D } from "three";
import { unzipSync } from "three/examples/jsm/libs/fflate.module.js";
import { ColladaLoader } from "three/examples/jsm/loaders/ColladaLoader.js";
import { FBXLoader } from "three/examples/jsm/loaders/FBXLoader.js";
import { TDSLoader } from "three/examples/jsm/loaders/TDSLoader.js";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { TGALoader } from "three/examples/jsm/loaders/TGALoader.js";
import { ThreeMFLoader } from "three/examples/jsm/loaders/3MFLoader.js";
import { drawn } from "./facts.ts";
import { type Fence, NEAR } from "./modelFiles.ts";
import type { Loaded } from "./loaded.ts";

const SHORT: Record<string, string> = {
  micron: "µm", millimeter: "mm", centimeter: "cm", inch: "in", foot: "ft", meter: "m",
}; // prettier-ignore

export function other(format: "FBX" | "3DS" | "DAE" | "3MF", data: ArrayBuffer, fence: Fence): Loaded {
  fence.manager.addHandler(/\.tga$/i, new TGALoader(fence.manager));
  const rest = { clips: [], unit: "", notes: [] };
  if (format === "FBX") {
    const root = new FBXLoader(fence.manager).parse(data, NEAR);
    return { ...rest, root, clips: root.animations, up: "y", unit: "cm" };
  }
  if (format === "3DS") return { ...rest, root: creased(new TDSLoader(fence.manager).parse(data, NEAR)), up: "z" };
  if (format === "3MF") return { ...rest, root: new ThreeMFLoader(fence.manager).parse(data), up: "z", unit: unit(data) };
  const found = new ColladaLoader(fence.manager).parse(new TextDecoder().decode(data), NEAR);
  if (!found?.scene) throw new Error("The COLLADA file is damaged.");
  // The loader rotates it upright and scales it to metres.
  return { ...rest, root: found.scene, clips: found.scene.animations, up: "y", unit: "m" };
}

/** The 3DS reader smooths every edge; make edges of more than 35 degrees sharp again. */
function creased(root: Object3D): Object3D {
  for (const object of drawn(root)) {
    if ("isMesh" in object) object.geometry = toCreasedNormals(object.geometry, (35 * Math.PI) / 180);
  }
  return root;
}

/** Read the unit from the model's first tag; millimetres if it is missing. */
function unit(data: ArrayBuffer): string {
  const inside = unzipSync(new Uint8Array(data), { filter: ({ name }) => name === "3D/3dmodel.model" });
  const head = new TextDecoder().decode(inside["3D/3dmodel.model"]?.slice(0, 4_000));
  return SHORT[/<model\b[^>]*\bunit\s*=\s*["'](\w+)["']/.exec(head)?.[1] ?? "millimeter"] ?? "mm";
}
