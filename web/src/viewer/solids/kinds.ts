import type { Kinds } from "../context.svelte.ts";

export const kinds: Kinds = {
  model: () => import("./Model.svelte"),
  cad: () => import("./Cad.svelte"),
  ifc: () => import("./Ifc.svelte"),
};
