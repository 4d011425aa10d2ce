import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { pdfjsAssets } from "./vendored.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Without a report of slow plugins, which a slow machine would print while ./dev installs.
const checks = { bundlerTimings: false };

// Two pages: the app, and the viewer, which has a separate origin because it parses hostile files.
export default defineConfig({
  plugins: [svelte(), pdfjsAssets()],
  resolve: { alias: { "@xterm/headless": here("./node_modules/@xterm/headless/lib-headless/xterm-headless.mjs"), "@shared": here("./src/shared"), "@app": here("./src/app"), "@viewer": here("./src/viewer") } },
  build: {
    outDir: here("../src/worksample/app/static"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4000,
    rollupOptions: {
      input: { index: here("./index.html"), viewer: here("./viewer.html") },
      checks,
    },
  },
  worker: { format: "es", rolldownOptions: { checks } },
  test: { include: ["src/**/*.test.ts"] },
});
