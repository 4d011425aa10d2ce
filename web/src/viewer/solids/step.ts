/** An assembly from a STEP file: coloured bodies and the tree of parts. */

import { BufferAttribute, BufferGeometry, Color, Group, Mesh, MeshStandardMaterial, type Object3D } from "three";
import type { Context } from "../context.svelte.ts";
import { bytes } from "./bytes.ts";
import { type Loaded, once, type Part } from "./loaded.ts";
import type { Assembly, Body, Node } from "./step.worker.ts";

export interface Step extends Loaded {
  parts: Part[];
  /** Part key -> objects that it shows or hides. */
  objects: Map<string, Object3D>;
}

export async function step(ctx: Context, progress: (what: string) => void): Promise<Step> {
  const data = await bytes(ctx, "source", progress);
  const worker = new Worker(new URL("./step.worker.ts", import.meta.url), { type: "module" });
  try {
    const { root, bodies } = await once<Assembly>(worker, data, [data], ctx.signal, progress);
    const objects = new Map<string, Object3D>();
    const made = new Group();
    const parts = grown(root, bodies, made, objects, "0");
    // The reader returns millimetres, whatever the file's unit.
    return { root: made, clips: [], up: "z", unit: "mm", notes: [], parts: unwrapped(parts), objects };
  } finally {
    worker.terminate();
  }
}

function grown(node: Node, bodies: Body[], into: Group, objects: Map<string, Object3D>, key: string): Part[] {
  const parts: Part[] = [];
  for (const [i, number] of node.meshes.entries()) {
    const body = bodies[number];
    if (!body) continue;
    const mesh = built(body);
    into.add(mesh);
    objects.set(`${key}.m${i}`, mesh);
    parts.push({ key: `${key}.m${i}`, name: body.name || node.name || "Body", children: [] });
  }
  for (const [i, child] of node.children.entries()) {
    const group = new Group();
    into.add(group);
    objects.set(`${key}.${i}`, group);
    const below = grown(child, bodies, group, objects, `${key}.${i}`);
    // A part with one body is replaced by that body.
    parts.push({ key: `${key}.${i}`, name: child.name || "Part", children: below.length === 1 && !below[0]?.children.length ? [] : below });
  }
  return parts;
}

/** Remove the chain of single branches at the top. */
function unwrapped(parts: Part[]): Part[] {
  let now = parts;
  while (now.length === 1 && now[0]?.children.length) now = now[0].children;
  return now;
}

function built(body: Body): Mesh {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(body.position, 3));
  geometry.setIndex(new BufferAttribute(body.index, 1));
  if (body.normal) geometry.setAttribute("normal", new BufferAttribute(body.normal, 3));
  else geometry.computeVertexNormals();
  const materials = body.colours.map((colour) => {
    // OpenCascade has converted the colours to linear.
    const shade = colour ? new Color().setRGB(...colour) : new Color(0xb9bec7);
    return new MeshStandardMaterial({ color: shade, roughness: 0.55, metalness: 0.1 });
  });
  if (materials.length > 1) for (const group of body.groups) geometry.addGroup(...group);
  const mesh = new Mesh(geometry, materials.length > 1 ? materials : materials[0]);
  mesh.name = body.name;
  return mesh;
}
