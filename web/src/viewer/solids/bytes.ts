/** Load an artefact and report progress. */

import type { Context } from "../context.svelte.ts";
import { size } from "../names.ts";

export async function bytes(ctx: Context, name: string, progress: (what: string) => void): Promise<ArrayBuffer> {
  const answer = await ctx.load(name);
  const total = Number(answer.headers.get("content-length")) || 0;
  if (!answer.body || total < 4_000_000) return answer.arrayBuffer();
  const reader = answer.body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let [had, told] = [0, 0];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(next.value);
    had += next.value.byteLength;
    if (had - told > 2_000_000) progress(`Loading, ${size((told = had))} of ${size(Math.max(total, had))}`);
  }
  progress("Reading the model");
  return new Blob(parts).arrayBuffer();
}
