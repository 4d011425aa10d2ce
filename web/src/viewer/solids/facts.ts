/** Counts of a model's content, and the release of its graphics memory. */

import {
  Box3, type BufferAttribute, type BufferGeometry, InstancedMesh, type InterleavedBufferAttribute, type Line,
  type Material, type Mesh, type Object3D, type Points, Texture,
} from "three"; // prettier-ignore

export const MOST_TRIANGLES = 20_000_000;

export interface Facts {
  triangles: number;
  vertices: number;
  meshes: number;
  materials: number;
  textures: number;
  points: number;
  lines: number;
  box: Box3;
}

type Drawn = Mesh | Points | Line;

/** Everything that is drawn. */
export function* drawn(root: Object3D): Generator<Drawn> {
  const open = [root];
  for (let next = open.pop(); next; next = open.pop()) {
    open.push(...next.children);
    if ((next as Mesh).geometry && (next as Mesh).material) yield next as Drawn;
  }
}

export function materialsOf(root: Object3D): Set<Material> {
  const out = new Set<Material>();
  for (const object of drawn(root)) for (const one of [object.material].flat()) out.add(one);
  return out;
}

export function texturesOf(materials: Iterable<Material>): Set<Texture> {
  const out = new Set<Texture>();
  for (const one of materials) for (const value of Object.values(one)) if (value instanceof Texture) out.add(value);
  return out;
}

/** Count a model's content. Throws if it is empty, a coordinate is not a number, or it is too large to draw. */
export function factsOf(root: Object3D): Facts {
  let [triangles, vertices, meshes, points, lines] = [0, 0, 0, 0, 0];
  const seen = new Set<BufferGeometry>();
  for (const object of drawn(root)) {
    const position = object.geometry.getAttribute("position") as BufferAttribute | undefined;
    if (!position || position.count === 0) continue;
    if (!seen.has(object.geometry)) checked(position);
    seen.add(object.geometry);
    const corners = object.geometry.getIndex()?.count ?? position.count;
    const copies = object instanceof InstancedMesh ? object.count : 1;
    vertices += position.count * copies;
    if ("isMesh" in object) [triangles, meshes] = [triangles + Math.floor(corners / 3) * copies, meshes + 1];
    else if ("isPoints" in object) points += corners;
    else lines += "isLineSegments" in object ? corners / 2 : Math.max(0, corners - 1);
  }
  if (triangles > MOST_TRIANGLES) throw new Error(tooMany(triangles));
  if (triangles + points + lines === 0) throw new Error("There is nothing in the model that can be shown.");
  root.updateWorldMatrix(true, true);
  const box = new Box3().setFromObject(root);
  if (box.isEmpty() || ![...box.min.toArray(), ...box.max.toArray()].every(Number.isFinite)) {
    throw new Error("The model is damaged: its size is not a number.");
  }
  const materials = materialsOf(root);
  const textures = texturesOf(materials).size;
  return { triangles, vertices, meshes, materials: materials.size, textures, points, lines, box };
}

export function tooMany(triangles: number): string {
  const most = MOST_TRIANGLES.toLocaleString("en");
  return `The model has ${triangles.toLocaleString("en")} triangles, more than the ${most} that are shown.`;
}

function checked(position: BufferAttribute | InterleavedBufferAttribute): void {
  const bad = () => new Error("The model is damaged: a coordinate is not a number.");
  if ("isInterleavedBufferAttribute" in position) {
    for (let i = 0; i < position.count; i++) {
      if (!Number.isFinite(position.getX(i) + position.getY(i) + position.getZ(i))) throw bad();
    }
    return;
  }
  const { array } = position;
  // Infinity minus infinity is NaN, too.
  for (let i = 0; i < array.length; i++) if ((array[i] ?? 0) - (array[i] ?? 0) !== 0) throw bad();
}

/** Free the model's graphics memory. */
export function dispose(root: Object3D): void {
  const materials = materialsOf(root);
  for (const texture of texturesOf(materials)) {
    texture.dispose();
    if (typeof ImageBitmap !== "undefined" && texture.image instanceof ImageBitmap) texture.image.close();
  }
  for (const material of materials) material.dispose();
  for (const object of drawn(root)) {
    object.geometry.dispose();
    if (object instanceof InstancedMesh) object.dispose();
  }
}
