/** The reader of glTF, with vendored decoders of its compressions. */

import { Group, type WebGLRenderer } from "three";
import basisWasm from "three/examples/jsm/libs/basis/basis_transcoder.wasm?url";
import basisSource from "three/examples/jsm/libs/basis/basis_transcoder.js?url";
import { MeshoptDecoder } from "three/examples/jsm/libs/meshopt_decoder.module.js";
import { DRACOLoader } from "three/examples/jsm/loaders/DRACOLoader.js";
import { GLTFLoader, type GLTF, type GLTFParser } from "three/examples/jsm/loaders/GLTFLoader.js";
import { KTX2Loader } from "three/examples/jsm/loaders/KTX2Loader.js";
import { withoutEval } from "./closures.ts";
import { type Fence, NEAR } from "./modelFiles.ts";
import type { Loaded } from "./loaded.ts";

/** The parts of a glTF document that are used here. */
export interface Document {
  buffers?: { uri?: string }[];
  images?: { uri?: string }[];
  textures?: { source?: number; extensions?: Record<string, { source?: number }> }[];
  materials?: unknown[];
}

export async function gltf(data: ArrayBuffer, fence: Fence, renderer: WebGLRenderer): Promise<Loaded> {
  const text = new TextDecoder("latin1").decode(data.slice(0, 4)) === "glTF" ? undefined : new TextDecoder().decode(data);
  const loader = new GLTFLoader(fence.manager);
  const draco = new DRACOLoader();
  let ktx2: KTX2Loader | undefined;
  loader.setDRACOLoader(draco).setMeshoptDecoder(MeshoptDecoder);
  const needs = text ?? new TextDecoder("latin1").decode(data.slice(0, 1 << 20));
  if (needs.includes("KHR_texture_basisu")) loader.setKTX2Loader((ktx2 = await basis(fence, renderer)));
  loader.register((parser: GLTFParser) => ({
    name: "worksample",
    beforeRoot() {
      prune(parser.json as Document, fence);
      return null;
    },
  }));
  try {
    const found: GLTF = await loader.parseAsync(text ?? data, NEAR);
    const root = found.scene ?? found.scenes[0] ?? new Group();
    return { root, clips: found.animations, up: "y", unit: "m", notes: [] };
  } finally {
    draco.dispose();
    ktx2?.dispose();
  }
}

/** KTX2's transcoder builds code at run time, which must work without `eval`. */
async function basis(fence: Fence, renderer: WebGLRenderer): Promise<KTX2Loader> {
  const source = withoutEval(await (await fetch(basisSource)).text());
  fence.allow("transcoder:basis_transcoder.js", URL.createObjectURL(new Blob([source])));
  fence.allow("transcoder:basis_transcoder.wasm", basisWasm);
  return new KTX2Loader(fence.manager).setTranscoderPath("transcoder:").detectSupport(renderer);
}

/** Remove references to missing pictures from a document. Throws if a buffer is missing. */
export function prune(document: Document, fence: Pick<Fence, "has" | "address">): void {
  const lacking = (document.buffers ?? []).flatMap(({ uri }) => (uri !== undefined && !fence.has(uri) ? [uri] : []));
  for (const uri of lacking) fence.address(NEAR + uri);
  if (lacking.length) throw new Error(`The model's data is not among the delivered files: ${lacking.join(", ").slice(0, 300)}`);
  const gone = new Set<number>();
  for (const [i, { uri }] of (document.images ?? []).entries()) {
    if (uri === undefined || fence.has(uri)) continue;
    fence.address(NEAR + uri);
    gone.add(i);
  }
  if (gone.size === 0) return;
  const bare = new Set<number>();
  for (const [i, texture] of (document.textures ?? []).entries()) {
    const sources = [texture.source, ...Object.values(texture.extensions ?? {}).map((e) => e?.source)];
    if (sources.some((source) => source !== undefined && gone.has(source))) bare.add(i);
  }
  for (const material of document.materials ?? []) undress(material, bare, 0);
}

/** Remove every `...Texture` of a material whose texture is one of `bare`. */
function undress(value: unknown, bare: Set<number>, depth: number): void {
  if (typeof value !== "object" || value === null || depth > 8) return;
  for (const [key, inner] of Object.entries(value)) {
    const index: unknown = (inner as { index?: unknown } | null)?.index;
    if (key.endsWith("Texture") && typeof index === "number" && bare.has(index)) {
      delete (value as Record<string, unknown>)[key];
    } else undress(inner, bare, depth + 1);
  }
}
