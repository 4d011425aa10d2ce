/** Properties of an element of an IFC file: attributes, property sets, quantities, type, materials. */

import { type IfcAPI, IFCRELASSOCIATESMATERIAL, IFCRELDEFINESBYPROPERTIES, IFCRELDEFINESBYTYPE } from "web-ifc";

export interface Group {
  title: string;
  rows: [string, string][];
}

const MOST = 400;
const OWN = ["Name", "Description", "ObjectType", "Tag", "LongName", "PredefinedType", "GlobalId"];

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Line = any;

/** Element -> targets of its relations of a kind. */
type Links = Map<number, number[]>;

/** Reads an open model. Relations are indexed once, since the library cannot follow them from an element. */
export class Properties {
  private links: { sets: Links; types: Links; materials: Links } | undefined;

  constructor(
    private readonly api: IfcAPI,
    private readonly model: number,
  ) {}

  of(id: number): Group[] {
    const { sets, types, materials } = (this.links ??= {
      sets: this.linked(IFCRELDEFINESBYPROPERTIES, "RelatingPropertyDefinition"),
      types: this.linked(IFCRELDEFINESBYTYPE, "RelatingType"),
      materials: this.linked(IFCRELASSOCIATESMATERIAL, "RelatingMaterial"),
    });
    const { api, model } = this;
    const whole = (one: number): Line => api.GetLine(model, one, true);
    const line = api.GetLine(model, id);
    const type = api.GetNameFromTypeCode(api.GetLineType(model, id)) ?? "";
    const own = OWN.flatMap((key): [string, string][] => (plain(line?.[key]) ? [[key, plain(line[key])]] : []));
    const out: Group[] = [{ title: type || "Element", rows: own }];
    const kinds = (types.get(id) ?? []).slice(0, 3).map(whole);
    const inherited: Line[] = kinds.flatMap((kind: Line) => (Array.isArray(kind?.HasPropertySets) ? kind.HasPropertySets : []));
    for (const set of [...(sets.get(id) ?? []).map(whole), ...inherited].slice(0, 60)) {
      out.push({ title: plain(set?.Name) || "Properties", rows: rows(set) });
    }
    const named = kinds.flatMap((kind: Line): [string, string][] => (plain(kind?.Name) ? [["Name", plain(kind.Name)]] : []));
    out.push({ title: "Type", rows: named });
    const stuff = (materials.get(id) ?? []).slice(0, 10).flatMap((one) => materialNames(whole(one), 0));
    out.push({ title: "Materials", rows: [...new Set(stuff)].slice(0, 30).map((name) => ["Name", name]) });
    return out.filter((group) => group.rows.length > 0);
  }

  private linked(type: number, key: string): Links {
    const out: Links = new Map();
    const relations = this.api.GetLineIDsWithType(this.model, type, true);
    for (let i = 0; i < relations.size(); i++) {
      const line = this.api.GetLine(this.model, relations.get(i));
      const to: unknown = line?.[key]?.value;
      const from: Line[] = Array.isArray(line?.RelatedObjects) ? line.RelatedObjects : [];
      if (typeof to !== "number") continue;
      for (const one of from) if (typeof one?.value === "number") out.set(one.value, [...(out.get(one.value) ?? []), to]);
    }
    return out;
  }
}

function rows(set: Line): [string, string][] {
  const list: Line[] = set?.HasProperties ?? set?.Quantities ?? [];
  return list.slice(0, MOST).flatMap((one): [string, string][] => {
    const name = plain(one?.Name);
    if (!name) return [];
    const key = Object.keys(one).find((k) => /^(Nominal|Length|Area|Volume|Count|Weight|Time)Value$/.test(k));
    const many: Line[] = one.ListValues ?? one.EnumerationValues ?? [];
    return [[name, key ? plain(one[key]) : many.map(plain).join(", ")]];
  });
}

function materialNames(material: Line, depth: number): string[] {
  if (!material || depth > 4) return [];
  const below: Line[] = material.MaterialLayers ?? material.Materials ?? material.MaterialConstituents ?? [];
  const inner = [material.ForLayerSet, material.Material, ...below].filter(Boolean);
  if (inner.length) return inner.flatMap((one: Line) => materialNames(one, depth + 1));
  return plain(material.Name) ? [plain(material.Name)] : [];
}

/** Return a value as text; undefined for references and sets. */
function plain(value: Line): string {
  const inner = value?.value ?? value;
  if (typeof inner === "number") return Number(inner.toPrecision(8)).toLocaleString("en", { maximumFractionDigits: 6 });
  if (typeof inner === "boolean") return inner ? "yes" : "no";
  return typeof inner === "string" ? inner.slice(0, 500) : "";
}
