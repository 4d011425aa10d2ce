import { BufferAttribute, BufferGeometry, Group, Mesh, MeshBasicMaterial } from "three";
import { describe, expect, it } from "vitest";
import { Batches, owner, without } from "./batches.ts";
import { factsOf } from "./facts.ts";
import { Fence, NEAR } from "./modelFiles.ts";
import { prune, type Document } from "./gltf.ts";
import { byPlace, byType, hiddenBy } from "./ifc.ts";

const fence = () => new Fence((name) => (name === "tex/a b.png" ? "http://x.c.test/.worksample/original?path=1" : undefined));

describe("fence", () => {
  it("leads to files that the server named, however their names are written", () => {
    const one = fence();
    for (const name of ["tex/a b.png", "tex/a%20b.png", ".\\tex\\a b.png"]) {
      expect(one.address(NEAR + name)).toContain("/.worksample/original");
    }
    expect([one.missing.size, one.refused.size]).toEqual([0, 0]);
  });
  it.each(["http://elsewhere.example/a.png", "//elsewhere.example/a.png", "/etc/passwd", "../../a.png", "file:///a", "C:\\a.png"])(
    "refuses %s",
    (name) => {
      const one = fence();
      for (const written of [name, NEAR + name]) expect(one.address(written)).toMatch(/^data:image\/png/);
      expect([...one.refused]).toEqual([name]);
    },
  );
  it("remembers what is missing", () => {
    const one = fence();
    expect(one.address(`${NEAR}gone.tga`)).toMatch(/^data:image\/x-tga/);
    expect([...one.missing]).toEqual(["gone.tga"]);
  });
  it("lets data and decoders of ours through", () => {
    const one = fence();
    one.allow("library:rhino3dm.js", "blob:ours");
    expect(one.address("library:rhino3dm.js")).toBe("blob:ours");
    expect(one.address("data:image/png;base64,AA")).toBe("data:image/png;base64,AA");
    expect(one.address(`${NEAR}library:rhino3dm.js`)).toMatch(/^data:/);
  });
});

describe("prune", () => {
  it("takes textures off whose pictures are not there", () => {
    const document: Document = {
      images: [{ uri: "gone.png" }, { uri: "tex/a%20b.png" }],
      textures: [{ source: 0 }, { source: 1 }],
      materials: [{ normalTexture: { index: 1 }, pbr: { baseColorTexture: { index: 0 } }, extensions: { x: { aTexture: { index: 0 } } } }],
    };
    const one = fence();
    prune(document, one);
    expect(document.materials).toEqual([{ normalTexture: { index: 1 }, pbr: {}, extensions: { x: {} } }]);
    expect([...one.missing]).toEqual(["gone.png"]);
  });
  it("refuses a document without its data", () => {
    expect(() => prune({ buffers: [{ uri: "http://elsewhere.example/x.bin" }] }, fence())).toThrow("not among");
  });
});

describe("factsOf", () => {
  const mesh = (...numbers: number[]) => {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from(numbers), 3));
    return new Group().add(new Mesh(geometry, new MeshBasicMaterial()));
  };
  it("counts", () => {
    const { triangles, vertices, meshes, box } = factsOf(mesh(0, 0, 0, 1, 0, 0, 0, 2, 0));
    expect([triangles, vertices, meshes, box.max.y]).toEqual([1, 3, 1, 2]);
  });
  it.each([NaN, Infinity])("refuses %d", (value) => {
    expect(() => factsOf(mesh(0, 0, 0, 1, value, 0, 0, 2, 0))).toThrow("not a number");
  });
  it("refuses nothing at all", () => expect(() => factsOf(new Group())).toThrow("nothing"));
});

describe("batches", () => {
  const same = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1];
  const corner = Float32Array.from([0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1]);
  const batches = new Batches();
  for (const id of [7, 8, 9]) batches.add(id, [1, 0, 0, 1], corner, Uint32Array.from([0, 1, 2]), same);
  const [batch] = batches.done();
  it("joins shapes of one colour and places them", () => {
    expect([...(batch?.index ?? [])]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect([...(batch?.position.slice(0, 6) ?? [])]).toEqual([5, 0, 0, 6, 0, 0]);
  });
  it("knows whose corner it is, also when some are hidden", () => {
    if (!batch) throw new Error("no batch");
    expect([0, 3, 8].map((at) => owner(batch.ranges, at))).toEqual([7, 8, 9]);
    const left = without(batch, new Set([8]));
    expect([...left.index]).toEqual([0, 1, 2, 6, 7, 8]);
    expect([owner(left.ranges, 3), owner(left.ranges, 6)]).toEqual([9, undefined]);
  });
});

describe("a building's tree", () => {
  const wall = (id: number) => ({ id, type: "IFCWALL", name: `W${id}`, children: [] });
  const storey = (id: number, ...children: ReturnType<typeof wall>[]) => ({ id, type: "IFCBUILDINGSTOREY", name: "", children });
  const project = { id: 1, type: "IFCPROJECT", name: "", children: [storey(2, wall(3)), storey(4, wall(5), wall(6))] };
  it("stands as it was built, or by types", () => {
    expect(byPlace(project).map((part) => [part.name, part.children.length])).toEqual([["Buildingstorey", 1], ["Buildingstorey", 2]]);
    expect(byType(project).map((part) => [part.name, part.note])).toEqual([["Wall", "3"]]);
  });
  it("hides what hangs on a branch", () => {
    expect([...hiddenBy(byPlace(project), new Set(["e4"]))].sort()).toEqual([4, 5, 6]);
  });
});
