/** Loading of waveforms and other data besides the sound itself. */

import type { Context } from "../context.svelte.ts";

/** Load the outline of the sound; empty if it has none. */
export async function peaksOf(ctx: Context): Promise<number[]> {
  if (!ctx.has("peaks")) return [];
  const found = await ctx.json<unknown>("peaks");
  return Array.isArray(found) ? found.map((value) => (Number.isFinite(value) ? Math.abs(Number(value)) : 0)) : [];
}

const WHY = ["", "Loading was stopped.", "The connection broke.", "It is damaged.", "This browser has no decoder for it."];

export function unplayable(element: HTMLMediaElement): string {
  return `It cannot be played. ${WHY[element.error?.code ?? 0] ?? ""}`.trim();
}
