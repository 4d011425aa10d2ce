/** Kind of view -> viewer. Each folder beside this file lists its viewers in `kinds.ts`. */

import type { Kinds, Loader } from "./context.svelte.ts";

const found = import.meta.glob<{ kinds: Kinds }>("./*/kinds.ts", { eager: true });
const all: Kinds = Object.assign({}, ...Object.values(found).map((module) => module.kinds));

/** Return the viewer of a kind; the card if none exists. */
export function viewerOf(kind: string): Loader {
  return all[kind] ?? (all.card as Loader);
}
