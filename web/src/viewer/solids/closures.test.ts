import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { withoutEval } from "./closures.ts";

const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const read = (path: string) => readFileSync(modules + path, "utf8");

describe("withoutEval", () => {
  it.each([
    "occt-import-js/dist/occt-import-js.js",
    "rhino3dm/rhino3dm.js",
    "three/examples/jsm/libs/basis/basis_transcoder.js",
  ])("finds the glue of the installed %s", (path) => {
    const text = withoutEval(read(path));
    expect(text).not.toBe(read(path));
    expect(text).not.toMatch(/newFunc\(Function/);
  });
  it("refuses glue that it does not know", () => {
    expect(() => withoutEval("var f=new Function(a,b)(c)")).toThrow("cannot be used");
  });
  it("needs no help for the other libraries", () => {
    for (const path of ["web-ifc/web-ifc-api.js", "three/examples/jsm/libs/draco/gltf/draco_wasm_wrapper.js"]) {
      expect(read(path)).not.toMatch(/new Function\(|newFunc\(Function/);
    }
  });
});
