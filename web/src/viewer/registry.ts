/** Kind of view -> viewer. Each folder beside this file names its own in `kinds.ts`. */

import type { Kinds, Loader } from "./context.svelte.ts";

const found = import.meta.glob<{ kinds: Kinds }>("./*/kinds.ts", { eager: true });
const all: Kinds = Object.assign({}, ...Object.values(found).map((module) => module.kinds));

/** The viewer of a kind; a card where there is none. */
export function viewerOf(kind: string): Loader {
  return all[kind] ?? (all.card as Loader);
}
