import type { Kinds } from "../context.svelte.ts";

export const kinds: Kinds = {
  audio: () => import("./Sound.svelte"),
  video: () => import("./Film.svelte"),
  midi: () => import("./Midi.svelte"),
};
