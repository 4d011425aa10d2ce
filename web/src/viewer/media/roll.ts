/** Layout of notes on a piano roll. */

/** start and length in seconds, pitch, velocity, channel, track */
export type Note = [number, number, number, number, number, number];

export interface Track {
  number: number;
  name: string;
  notes: number;
  colour: string;
}

/** Colours that are distinct in both themes and for most kinds of colour vision. */
export const COLOURS = [
  "#4477dd", "#e07b28", "#3c9d5c", "#c4447c", "#8a63c9", "#a38b1e", "#2b9fb0", "#cf4b3f", "#6f8f2f", "#b06fae",
]; // prettier-ignore

const NAMES = ["C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B"];

/** Middle C is C4. */
export function pitch(number: number): string {
  return `${NAMES[number % 12]}${Math.floor(number / 12) - 1}`;
}

export function isBlack(number: number): boolean {
  return [1, 3, 6, 8, 10].includes(number % 12);
}

/** Parse the notes among an artefact's rows, sorted by start. */
export function notesOf(rows: unknown): Note[] {
  if (!Array.isArray(rows)) return [];
  const good = rows.filter(
    (row): row is Note => Array.isArray(row) && row.length >= 6 && row.every((value) => Number.isFinite(value)),
  );
  return good.sort((a, b) => a[0] - b[0]);
}

/** Return tracks with notes, in order. A file with one track is split by channel. */
export function tracksOf(notes: Note[], names: unknown): { by: 4 | 5; tracks: Track[] } {
  const by = new Set(notes.map((note) => note[5])).size > 1 ? 5 : 4;
  const counts = new Map<number, number>();
  for (const note of notes) counts.set(note[by], (counts.get(note[by]) ?? 0) + 1);
  const named = Array.isArray(names) ? names.map(String) : [];
  const tracks = [...counts].sort(([a], [b]) => a - b).map(([number, count], i) => ({
    number,
    name: by === 5 ? named[number] || `Track ${number + 1}` : number === 9 ? "Drums" : `Channel ${number + 1}`,
    notes: count,
    colour: COLOURS[i % COLOURS.length] ?? "#4477dd",
  }));
  return { by, tracks };
}

/** Return the lowest and highest pitch with a margin, at least two octaves. */
export function span(notes: Note[]): [number, number] {
  let [low, high] = [127, 0];
  for (const note of notes) [low, high] = [Math.min(low, note[2]), Math.max(high, note[2])];
  if (low > high) [low, high] = [60, 72];
  while (high - low < 24) [low, high] = [Math.max(0, low - 1), Math.min(127, high + 1)];
  return [Math.max(0, low - 1), Math.min(127, high + 1)];
}

/** Find the first note that may still sound at `time`, given the longest note; a binary search over starts. */
export function first(notes: Note[], time: number, longest: number): number {
  let [low, high] = [0, notes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((notes[middle]?.[0] ?? 0) < time - longest) low = middle + 1;
    else high = middle;
  }
  return low;
}
