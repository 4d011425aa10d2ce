/** Lines of a terminal as runs of text with the same style. */
import type { IBufferCell, Terminal } from "@xterm/headless";

export interface Run {
  text: string;
  color: string;
  back: string;
  bold: boolean;
  dim: boolean;
  underline: boolean;
  cursor: boolean;
}

/** Indexed colours, readable on dark; 16 to 255 follow xterm's cube and greys. */
const SIXTEEN = [
  "#3b4252", "#f07178", "#a6d189", "#e5c07b", "#7aa2f7", "#c792ea", "#7fdbca", "#d8dee9",
  "#6b7489", "#ff8b92", "#bde59f", "#ffd68a", "#9dbcff", "#ddb6f2", "#9ff0e0", "#ffffff",
]; // prettier-ignore

export function indexed(n: number): string {
  if (n < 16) return SIXTEEN[n] ?? "";
  if (n >= 232) return `rgb(${Array(3).fill(8 + (n - 232) * 10).join(" ")})`;
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const at = n - 16;
  return `rgb(${level(Math.floor(at / 36))} ${level(Math.floor(at / 6) % 6)} ${level(at % 6)})`;
}

function rgb(n: number): string {
  return `rgb(${(n >> 16) & 255} ${(n >> 8) & 255} ${n & 255})`;
}

function look(cell: IBufferCell): Omit<Run, "text" | "cursor"> {
  const front = cell.isFgRGB() ? rgb(cell.getFgColor()) : cell.isFgPalette() ? indexed(cell.getFgColor()) : "";
  const behind = cell.isBgRGB() ? rgb(cell.getBgColor()) : cell.isBgPalette() ? indexed(cell.getBgColor()) : "";
  const turned = cell.isInverse() !== 0;
  return {
    color: turned ? behind || "#14171c" : front,
    back: turned ? front || "#d8dee9" : behind,
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    underline: cell.isUnderline() !== 0,
  };
}

/** Return the rows shown if scrolled `up` lines from the end. */
export function rowsOf(terminal: Terminal, up: number): Run[][] {
  const buffer = terminal.buffer.active;
  const top = Math.max(0, buffer.baseY - up);
  const found: Run[][] = [];
  for (let y = 0; y < terminal.rows; y++) {
    const line = buffer.getLine(top + y);
    const runs: Run[] = [];
    for (let x = 0; line && x < terminal.cols; x++) {
      const cell = line.getCell(x);
      if (!cell || cell.getWidth() === 0) continue;
      const cursor = top + y === buffer.baseY + buffer.cursorY && x === buffer.cursorX;
      const next: Run = { text: cell.getChars() || " ", cursor, ...look(cell) };
      const last = runs.at(-1);
      if (last && same(last, next)) last.text += next.text;
      else runs.push(next);
    }
    found.push(runs);
  }
  return found;
}

function same(a: Run, b: Run): boolean {
  return (
    !a.cursor && !b.cursor && a.color === b.color && a.back === b.back && a.bold === b.bold && a.dim === b.dim &&
    a.underline === b.underline
  ); // prettier-ignore
}
