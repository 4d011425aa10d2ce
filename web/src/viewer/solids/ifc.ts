/** A building: its shapes in batches, hidden elements, and requests to the worker for properties. */

import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, Group, type Intersection, Mesh, MeshBasicMaterial,
  MeshStandardMaterial,
} from "three"; // prettier-ignore
import type { Context } from "../context.svelte.ts";
import { owner, without, type Batch } from "./batches.ts";
import { bytes } from "./bytes.ts";
import type { Building, Element, Group as Properties } from "./ifc.worker.ts";
import { type Loaded, once, type Part } from "./loaded.ts";

interface Held {
  batch: Batch;
  mesh: Mesh;
  ranges: Uint32Array;
}

export class House {
  readonly root = new Group();
  private readonly held: Held[];
  private mark: Mesh | undefined;
  /** One request at a time, since replies have no number. */
  private asking: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly worker: Worker,
    readonly building: Building,
  ) {
    this.held = building.batches.map((batch) => {
      const mesh = built(batch);
      this.root.add(mesh);
      return { batch, mesh, ranges: batch.ranges };
    });
  }

  static async open(ctx: Context, progress: (what: string) => void): Promise<House> {
    const data = await bytes(ctx, "source", progress);
    const worker = new Worker(new URL("./ifc.worker.ts", import.meta.url), { type: "module" });
    try {
      return new House(worker, await once<Building>(worker, { open: data }, [data], ctx.signal, progress));
    } catch (fault) {
      worker.terminate();
      throw fault;
    }
  }

  get loaded(): Loaded {
    return { root: this.root, clips: [], up: "y", unit: "m", notes: [] };
  }

  about(id: number, signal: AbortSignal): Promise<Properties[]> {
    const ask = () => once<Properties[]>(this.worker, { about: id }, [], signal, () => undefined);
    const answer = this.asking.then(ask, ask);
    this.asking = answer;
    return answer;
  }

  hide(ids: ReadonlySet<number>): void {
    for (const held of this.held) {
      const { index, ranges } = without(held.batch, ids);
      held.mesh.geometry.setIndex(new BufferAttribute(index, 1));
      held.mesh.visible = index.length > 0;
      held.ranges = ranges;
    }
  }

  /** Return the element that was hit. */
  hit(at: Intersection | undefined): number | undefined {
    const held = this.held.find(({ mesh }) => mesh === at?.object);
    return held && at?.faceIndex != null ? owner(held.ranges, at.faceIndex * 3) : undefined;
  }

  /** Highlight an element, or none. */
  highlight(id: number | undefined): void {
    if (this.mark) {
      this.root.remove(this.mark);
      this.mark.geometry.dispose();
      this.mark = undefined;
    }
    if (id === undefined) return;
    const geometry = new BufferGeometry();
    const points: number[] = [];
    for (const { batch } of this.held) {
      for (let i = 0; i < batch.ranges.length; i += 3) {
        if (batch.ranges[i] !== id) continue;
        const start = batch.ranges[i + 1] ?? 0;
        for (const corner of batch.index.subarray(start, start + (batch.ranges[i + 2] ?? 0))) {
          points.push(...batch.position.subarray(corner * 3, corner * 3 + 3));
        }
      }
    }
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
    const colour = { color: 0xff8c1a, transparent: true, opacity: 0.55, side: DoubleSide };
    const over = { polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 };
    this.mark = new Mesh(geometry, new MeshBasicMaterial({ ...colour, ...over }));
    this.root.add(this.mark);
  }

  end(): void {
    this.worker.terminate();
  }
}

function built(batch: Batch): Mesh {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(batch.position, 3));
  geometry.setAttribute("normal", new BufferAttribute(batch.normal, 3));
  geometry.setIndex(new BufferAttribute(batch.index, 1));
  const [r, g, b, a] = batch.colour;
  const glass = a < 0.99 ? { transparent: true, opacity: Math.max(a, 0.15), depthWrite: false } : {};
  const color = new Color().setRGB(r, g, b, "srgb");
  return new Mesh(geometry, new MeshStandardMaterial({ color, roughness: 0.8, metalness: 0, side: DoubleSide, ...glass }));
}

/** Make an IFC type readable; "IFCWALLSTANDARDCASE" cannot be split into words by a rule. */
export function readable(type: string): string {
  const plain = type.replace(/^IFC/i, "").toLowerCase();
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** Parts by structure: site, storeys, elements. */
export function byPlace(element: Element): Part[] {
  const part = (of: Element): Part => ({
    key: `e${of.id}`,
    name: of.name || readable(of.type),
    note: of.children.length ? String(of.children.length) : readable(of.type),
    children: of.children.map(part),
  });
  let now = element.children;
  while (now.length === 1 && now[0]?.children.length) now = now[0].children;
  return now.map(part);
}

/** Parts by type: walls, doors, windows. */
export function byType(element: Element): Part[] {
  const kinds = new Map<string, Element[]>();
  const open = [...element.children];
  for (let next = open.pop(); next; next = open.pop()) {
    open.push(...next.children);
    if (next.children.length > 0) continue;
    const list = kinds.get(next.type);
    if (list) list.push(next);
    else kinds.set(next.type, [next]);
  }
  const part = (of: Element): Part => ({ key: `e${of.id}`, name: of.name || readable(of.type), children: [] });
  return [...kinds]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([type, list]) => ({ key: `t${type}`, name: readable(type), note: String(list.length), children: list.map(part) }));
}

/** Return the elements that are hidden if the branches of `keys` are. */
export function hiddenBy(parts: Part[], keys: ReadonlySet<string>): Set<number> {
  const out = new Set<number>();
  const walk = (list: Part[], off: boolean) => {
    for (const part of list) {
      const gone = off || keys.has(part.key);
      if (gone && part.key.startsWith("e")) out.add(Number(part.key.slice(1)));
      walk(part.children, gone);
    }
  };
  walk(parts, false);
  return out;
}
