/** Captions in WebVTT or SubRip files beside a film. */

export interface Cue {
  start: number;
  end: number;
  text: string;
}

const MOST = 20_000;
const TIMES = /^\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})/;

/** Parse cues in the order of the text; anything else is skipped. */
export function cues(text: string): Cue[] {
  const out: Cue[] = [];
  for (const block of text.replace(/\r\n?/g, "\n").split(/\n\n+/)) {
    const lines = block.split("\n");
    const at = lines.findIndex((line) => TIMES.test(line));
    const found = at >= 0 ? TIMES.exec(lines[at] ?? "") : null;
    if (!found) continue;
    const [start, end] = [seconds(found[1] ?? ""), seconds(found[2] ?? "")];
    const said = lines.slice(at + 1).join("\n").trim();
    if (said && end > start) out.push({ start, end, text: said.slice(0, 2_000) });
    if (out.length >= MOST) break;
  }
  return out;
}

function seconds(text: string): number {
  return text.replace(",", ".").split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
}

/** Return those of `paths` with captions of the film at `path`: same folder and name, `.vtt` or `.srt`. */
export function captionsOf(path: string, paths: string[]): string[] {
  const stem = path.replace(/\.[^./]*$/, "").toLowerCase();
  return paths.filter((other) => {
    const low = other.toLowerCase();
    return low.startsWith(stem) && /^\.(?:[^/]*\.)?(?:vtt|srt)$/.test(low.slice(stem.length));
  });
}
