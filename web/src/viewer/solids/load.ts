/** Loads a model of any format. Each reader is a separate chunk. */

import type { WebGLRenderer } from "three";
import type { Context } from "../context.svelte.ts";
import { bytes } from "./bytes.ts";
import { tooMany, MOST_TRIANGLES } from "./facts.ts";
import type { Fence } from "./modelFiles.ts";
import type { Loaded } from "./loaded.ts";

/** Load a model. Throws an Error that says what is wrong with the file. */
export async function load(
  ctx: Context,
  fence: Fence,
  renderer: WebGLRenderer,
  progress: (what: string) => void,
): Promise<Loaded> {
  const told: unknown = ctx.view.meta.triangles;
  if (typeof told === "number" && told > MOST_TRIANGLES) throw new Error(tooMany(told));
  const format = String(ctx.view.meta.format ?? "");
  const data = await bytes(ctx, ctx.has("model") ? "model" : "source", progress);
  const loaded = await read(format, data, ctx, fence, renderer, progress).catch((fault: unknown) => {
    // Readers throw messages for programmers if a file is damaged, so wrap them.
    const stumbled = fault instanceof TypeError || fault instanceof RangeError || fault instanceof SyntaxError;
    throw stumbled && !ctx.signal.aborted ? new Error(`The model is damaged (${fault.message}).`) : fault;
  });
  await fence.settled();
  fence.strip(loaded.root);
  loaded.notes.push(...said(fence));
  return loaded;
}

async function read(
  format: string,
  data: ArrayBuffer,
  ctx: Context,
  fence: Fence,
  renderer: WebGLRenderer,
  progress: (what: string) => void,
): Promise<Loaded> {
  switch (format) {
    case "GLB":
    case "GLTF":
    case "SKP": {
      // The server's converter writes millimetres.
      const made = await (await import("./gltf.ts")).gltf(data, fence, renderer);
      return format === "SKP" ? { ...made, unit: "mm" } : made;
    }
    case "OBJ":
    case "STL":
    case "PLY":
      return (await import("./meshes.ts")).meshes(ctx, { format, data }, fence, progress);
    case "3DM":
      return (await import("./rhino.ts")).rhino(data, fence);
    case "FBX":
    case "3DS":
    case "DAE":
    case "3MF":
      return (await import("./others.ts")).other(format, data, fence);
    default:
      throw new Error(`There is no viewer for ${format || "this format"}.`);
  }
}

function said(fence: Fence): string[] {
  const list = (names: Set<string>) => [...names].slice(0, 8).join(", ") + (names.size > 8 ? " and more" : "");
  const out: string[] = [];
  if (fence.missing.size) out.push(`Missing textures: ${list(fence.missing)}.`);
  if (fence.refused.size) out.push(`Not loaded, because it lies outside the folder: ${list(fence.refused)}.`);
  if (fence.broken.size) out.push(`Textures that cannot be shown: ${list(fence.broken)}.`);
  return out;
}

