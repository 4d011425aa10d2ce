/** OBJ, STL and PLY, read by a worker and assembled here. */

import {
  BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments, type Material, Mesh, MeshStandardMaterial,
  Points, PointsMaterial,
} from "three"; // prettier-ignore
import { MTLLoader } from "three/examples/jsm/loaders/MTLLoader.js";
import type { Context } from "../context.svelte.ts";
import { type Fence, NEAR } from "./modelFiles.ts";
import { type Loaded, once } from "./loaded.ts";
import type { Order, Piece } from "./mesh.worker.ts";

/** Default grey for shapes without a material; it shows form on both backgrounds. */
const PLAIN = 0xb9bec7;

type Library = Map<string, Material>;

export async function meshes(
  ctx: Context,
  order: Order,
  fence: Fence,
  progress: (what: string) => void,
): Promise<Loaded> {
  const worker = new Worker(new URL("./mesh.worker.ts", import.meta.url), { type: "module" });
  try {
    const pieces = await once<Piece[]>(worker, order, [order.data], ctx.signal, progress);
    const notes: string[] = [];
    const library: Library = order.format === "OBJ" ? await materials(ctx, fence, notes) : new Map();
    const root = new Group();
    for (const piece of pieces) root.add(built(piece, library, notes));
    return { root, clips: [], up: order.format === "STL" ? "z" : "y", unit: "", notes };
  } finally {
    worker.terminate();
  }
}

/** Materials of an OBJ's libraries, by name. */
async function materials(ctx: Context, fence: Fence, notes: string[]): Promise<Library> {
  const out: Library = new Map();
  const names = Object.keys(ctx.view.meta.beside ?? {}).filter((name) => /\.mtl$/i.test(name));
  const lacking = ((ctx.view.meta.absent ?? []) as string[]).filter((name) => /\.mtl$/i.test(name));
  if (lacking.length) notes.push(`Its materials are missing (${lacking.join(", ")}): it is shown in grey.`);
  for (const name of names) {
    const url = ctx.beside(name);
    if (!url) continue;
    const text = await (await ctx.fetch(url)).text();
    const folder = name.replaceAll("\\", "/").split("/").slice(0, -1).join("/");
    const read = new MTLLoader(fence.manager).parse(text, folder ? `${NEAR}${folder}/` : NEAR);
    read.preload();
    for (const [key, material] of Object.entries(read.materials)) out.set(key, material);
  }
  return out;
}

function built(piece: Piece, library: Library, notes: string[]): Mesh | Points | LineSegments {
  const geometry = new BufferGeometry();
  for (const [key, { array, size }] of Object.entries(piece.attributes)) {
    geometry.setAttribute(key, new BufferAttribute(array, size));
  }
  if (piece.index) geometry.setIndex(new BufferAttribute(piece.index, 1));
  for (const { start, count, materialIndex } of piece.groups) geometry.addGroup(start, count, materialIndex);
  const coloured = "color" in piece.attributes;
  const white = { color: coloured ? 0xffffff : PLAIN, vertexColors: coloured };
  if (piece.form === "points") {
    const few = (piece.attributes.position?.array.length ?? 0) < 30_000;
    const dots = new PointsMaterial({ ...white, size: few ? 6 : 2, sizeAttenuation: false });
    return named(new Points(geometry, dots), piece.name);
  }
  if (piece.form === "lines") return named(new LineSegments(geometry, new LineBasicMaterial(white)), piece.name);
  const wear = (name: string, flat: boolean): Material => {
    const found = library.get(name);
    if (!found && name && library.size) notes.push(`The material ${name} is not described: it is shown in grey.`);
    return found ?? new MeshStandardMaterial({ ...white, roughness: 0.7, metalness: 0.05, flatShading: flat, name });
  };
  const worn = piece.materials.map(({ name, flat }) => wear(name, flat));
  const one = worn[0] ?? wear("", false);
  return named(new Mesh(geometry, worn.length > 1 ? worn : one), piece.name);
}

function named<T extends Mesh | Points | LineSegments>(object: T, name: string): T {
  object.name = name;
  return object;
}
