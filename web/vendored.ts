import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const FOLDERS = ["cmaps", "standard_fonts", "wasm", "iccs"];

/** Files that pdf.js requests by name while it reads a document: character maps, fonts, decoders, profiles. */
export function pdfjsAssets(): Plugin {
  return {
    name: "pdfjs-assets",
    apply: "build",
    buildStart() {
      const root = fileURLToPath(new URL("./node_modules/pdfjs-dist/", import.meta.url));
      const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
      for (const folder of FOLDERS) {
        for (const name of readdirSync(join(root, folder)).sort()) {
          const source = readFileSync(join(root, folder, name));
          this.emitFile({ type: "asset", fileName: `assets/pdfjs-${version}/${folder}/${name}`, source });
        }
      }
    },
  };
}
