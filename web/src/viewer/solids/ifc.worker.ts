/** Worker that reads IFC with web-ifc, and keeps the file open to return properties of clicked elements. */

import { IfcAPI, IFCPROJECT, IFCRELAGGREGATES, IFCRELCONTAINEDINSPATIALSTRUCTURE, LogLevel } from "web-ifc";
import wasm from "web-ifc/web-ifc.wasm?url";
import { Batches, type Batch } from "./batches.ts";
import { type Group, Properties } from "./ifcproperties.ts";

export interface Element {
  id: number;
  type: string;
  name: string;
  children: Element[];
}
export interface Building {
  tree: Element;
  batches: Batch[];
  /** Elements that have a shape. */
  shapes: number;
}
export type Asked = { open: ArrayBuffer } | { about: number };
export type { Group };

const api = new IfcAPI();
let model = -1;
let about: Properties | undefined;
const text = (value: unknown): string => {
  const inner = (value as { value?: unknown } | null)?.value;
  return typeof inner === "string" ? inner.slice(0, 200) : "";
};

self.onmessage = async ({ data }: MessageEvent<Asked>) => {
  try {
    if ("open" in data) {
      const answer = await open(new Uint8Array(data.open));
      const buffers = answer.batches.flatMap((b) => [b.position.buffer, b.normal.buffer, b.index.buffer, b.ranges.buffer]);
      self.postMessage({ answer }, { transfer: buffers });
    } else {
      about ??= new Properties(api, model);
      self.postMessage({ answer: about.of(data.about) });
    }
  } catch (fault) {
    self.postMessage({ fault: `The IFC file cannot be read: ${fault instanceof Error ? fault.message : String(fault)}` });
  }
};

async function open(data: Uint8Array): Promise<Building> {
  self.postMessage({ progress: "Loading the IFC reader" });
  await api.Init(() => new URL(wasm, self.location.href).href, true);
  api.SetLogLevel(LogLevel.LOG_LEVEL_OFF);
  self.postMessage({ progress: "Reading the building" });
  // Far from the origin (map coordinates) a graphics card's floats would be too coarse.
  model = api.OpenModel(data, { COORDINATE_TO_ORIGIN: true });
  if (model < 0) throw new Error("it is damaged, or its schema is not supported.");
  const batches = new Batches();
  let shapes = 0;
  api.StreamAllMeshes(model, (mesh, at, total) => {
    for (let i = 0; i < mesh.geometries.size(); i++) {
      const placed = mesh.geometries.get(i);
      const geometry = api.GetGeometry(model, placed.geometryExpressID);
      const points = api.GetVertexArray(geometry.GetVertexData(), geometry.GetVertexDataSize());
      const index = api.GetIndexArray(geometry.GetIndexData(), geometry.GetIndexDataSize());
      const { x, y, z, w } = placed.color;
      batches.add(mesh.expressID, [x, y, z, w], points, index, placed.flatTransformation);
      geometry.delete();
    }
    shapes++;
    if (at % 200 === 0 && total > 400) self.postMessage({ progress: `Reading the building, ${at} of ${total} elements` });
  });
  return { tree: tree(), batches: batches.done(), shapes };
}

/** Build the tree of project, site, building, storeys and elements. Files may contain circles, so each comes once. */
function tree(): Element {
  const below = new Map<number, number[]>();
  for (const [type, over, under] of [
    [IFCRELAGGREGATES, "RelatingObject", "RelatedObjects"],
    [IFCRELCONTAINEDINSPATIALSTRUCTURE, "RelatingStructure", "RelatedElements"],
  ] as const) {
    const relations = api.GetLineIDsWithType(model, type, true);
    for (let i = 0; i < relations.size(); i++) {
      const line = api.GetLine(model, relations.get(i));
      const above: unknown = line?.[over]?.value;
      const parts: { value?: number }[] = Array.isArray(line?.[under]) ? line[under] : [];
      if (typeof above !== "number") continue;
      const list = below.get(above) ?? [];
      for (const part of parts) if (typeof part?.value === "number") list.push(part.value);
      below.set(above, list);
    }
  }
  const seen = new Set<number>();
  const grown = (id: number, depth: number): Element => {
    seen.add(id);
    const children = depth > 50 ? [] : (below.get(id) ?? []).filter((child) => !seen.has(child));
    const type = api.GetNameFromTypeCode(api.GetLineType(model, id)) ?? "";
    const line = api.GetLine(model, id);
    const name = text(line?.LongName) || text(line?.Name);
    const kept: Element[] = [];
    for (const child of children) if (!seen.has(child)) kept.push(grown(child, depth + 1));
    return { id, type, name, children: kept };
  };
  const projects = api.GetLineIDsWithType(model, IFCPROJECT);
  if (projects.size() === 0) return { id: 0, type: "", name: "", children: [] };
  return grown(projects.get(0), 0);
}
