/** Reader of Rhino files, by Rhino's own library in a worker. */

import { Color, DoubleSide, MeshStandardMaterial, type Object3D, SRGBColorSpace } from "three";
import rhinoSource from "rhino3dm/rhino3dm.js?url";
import rhinoWasm from "rhino3dm/rhino3dm.wasm?url";
import { Rhino3dmLoader } from "three/examples/jsm/loaders/3DMLoader.js";
import { withoutEval } from "./closures.ts";
import { drawn } from "./facts.ts";
import type { Fence } from "./modelFiles.ts";
import type { Loaded } from "./loaded.ts";

const UNITS = ["", "µm", "mm", "cm", "m", "km", "µin", "mil", "in", "ft", "mi"];

export async function rhino(data: ArrayBuffer, fence: Fence): Promise<Loaded> {
  const source = withoutEval(await (await fetch(rhinoSource)).text());
  fence.allow("library:rhino3dm.js", URL.createObjectURL(new Blob([source])));
  fence.allow("library:rhino3dm.wasm", rhinoWasm);
  const loader = new Rhino3dmLoader(fence.manager).setLibraryPath("library:").setWorkerLimit(1);
  try {
    const root = await loader.parseAsync(data);
    paint(root);
    const { warnings = [], settings } = root.userData as { warnings?: { message?: string }[]; settings?: Settings };
    const said = [...new Set(warnings.map((warning) => String(warning.message ?? "").slice(0, 200)))].filter(Boolean);
    const unit = UNITS[Number(settings?.modelUnitSystem?.value ?? 0)] ?? "";
    return { root, clips: [], up: "z", unit, notes: said.slice(0, 5) };
  } finally {
    loader.dispose();
  }
}

/** Draw objects without a material in their object's or layer's colour, as Rhino does; black means no colour was chosen. */
function paint(root: Object3D): void {
  for (const object of drawn(root)) {
    const { attributes } = object.userData as { attributes?: Attributes };
    const { r = 0, g = 0, b = 0 } = attributes?.drawColor ?? {};
    if (!("isMesh" in object) || (attributes?.materialIndex ?? 0) >= 0 || r + g + b === 0) continue;
    const color = new Color().setRGB(r / 255, g / 255, b / 255, SRGBColorSpace);
    object.material = new MeshStandardMaterial({ color, roughness: 0.7, metalness: 0.05, side: DoubleSide });
  }
}

interface Attributes {
  drawColor?: { r: number; g: number; b: number };
  materialIndex?: number;
}

interface Settings {
  modelUnitSystem?: { value?: number };
}
