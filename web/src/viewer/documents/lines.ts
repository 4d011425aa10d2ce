/** A text as rows of equal height: long lines continue on further rows. */

export interface Row {
  /** Counted from 0. */
  line: number;
  /** Range of the line's characters. */
  from: number;
  to: number;
}

/** Longest row, even unwrapped, since browsers take seconds to lay out a line of a million characters. */
export const WIDEST = 4_000;

export function rows(lines: readonly string[], columns: number): Row[] {
  const out: Row[] = [];
  for (let line = 0; line < lines.length; line++) {
    const { length } = lines[line] as string;
    let from = 0;
    do {
      const to = Math.min(length, from + columns);
      out.push({ line, from, to });
      from = to;
    } while (from < length);
  }
  return out;
}

export type Token = [string, string];

/** Return a line's tokens between two characters. */
export function part(tokens: readonly Token[], from: number, to: number): Token[] {
  const out: Token[] = [];
  let at = 0;
  for (const [kind, text] of tokens) {
    const [low, high] = [Math.max(from, at), Math.min(to, at + text.length)];
    if (high > low) out.push([kind, text.slice(low - at, high - at)]);
    at += text.length;
    if (at >= to) break;
  }
  return out;
}

export interface Hit {
  line: number;
  from: number;
  to: number;
}

/** Find occurrences of a text, ignoring case; at most `limit`. */
export function find(lines: readonly string[], text: string, limit = 20_000): Hit[] {
  const out: Hit[] = [];
  const wanted = text.toLowerCase();
  if (!wanted) return out;
  for (let line = 0; line < lines.length && out.length < limit; line++) {
    const lower = (lines[line] as string).toLowerCase();
    for (let at = lower.indexOf(wanted); at >= 0 && out.length < limit; at = lower.indexOf(wanted, at + wanted.length)) {
      out.push({ line, from: at, to: at + wanted.length });
    }
  }
  return out;
}

export interface Piece {
  kind: string;
  text: string;
  hit: "" | "hit" | "now";
}

/** Cut a row's tokens where hits begin and end. `hits`: hits in the row's line. */
export function pieces(tokens: readonly Token[], row: Row, hits: readonly Hit[], now: Hit | undefined): Piece[] {
  const inside = hits.filter((hit) => hit.to > row.from && hit.from < row.to);
  const cuts = new Set([row.from, row.to]);
  for (const hit of inside) cuts.add(Math.max(hit.from, row.from)).add(Math.min(hit.to, row.to));
  const edges = [...cuts].sort((a, b) => a - b);
  const out: Piece[] = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const [from, to] = [edges[i] as number, edges[i + 1] as number];
    const within = inside.find((hit) => hit.from <= from && hit.to >= to);
    const mark = within ? (within === now ? "now" : "hit") : "";
    for (const [kind, text] of part(tokens, from, to)) out.push({ kind, text, hit: mark });
  }
  return out;
}
