/** A table that loads chunks of rows when they become visible. */

export type Cell = string | number | boolean | null;
export type Load = (chunk: number) => Promise<Cell[][]>;

/** Number of chunks kept; the least recently used are dropped. */
const KEPT = 60;

export interface Where {
  row: number;
  column: number;
}

export class Sheet {
  private chunks = new Map<number, Cell[][]>();
  private asked = new Map<number, Promise<Cell[][]>>();

  /** `skip`: rows at the beginning that are no data, such as a header. `rows` counts without them. */
  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly chunk: number,
    private readonly from: Load,
    readonly skip = 0,
  ) {}

  static of(rows: Cell[][], columns: number): Sheet {
    const size = Math.max(1, rows.length);
    return new Sheet(rows.length, columns, size, () => Promise.resolve(rows));
  }

  /** Return a loaded row, or undefined. */
  row(number: number): Cell[] | undefined {
    const at = number + this.skip;
    return this.chunks.get(Math.floor(at / this.chunk))?.[at % this.chunk];
  }

  /** Load the chunks of rows `first` to `end`. True if something new was loaded. */
  async want(first: number, end: number): Promise<boolean> {
    if (end <= first) return false;
    const [low, high] = [Math.floor((first + this.skip) / this.chunk), Math.floor((end - 1 + this.skip) / this.chunk)];
    const missing: Promise<unknown>[] = [];
    for (let n = low; n <= high; n++) if (!this.chunks.has(n)) missing.push(this.get(n));
    await Promise.all(missing);
    return missing.length > 0;
  }

  async get(number: number): Promise<Cell[][]> {
    const held = this.chunks.get(number);
    if (held) {
      this.chunks.delete(number);
      this.chunks.set(number, held);
      return held;
    }
    const under = this.asked.get(number) ?? this.from(number);
    this.asked.set(number, under);
    try {
      const rows = await under;
      this.chunks.set(number, rows);
      for (const old of this.chunks.keys()) {
        if (this.chunks.size <= KEPT) break;
        this.chunks.delete(old);
      }
      return rows;
    } finally {
      this.asked.delete(number);
    }
  }

  /** Find cells that contain `text`, reported chunk by chunk; at most `limit`. */
  async find(text: string, signal: AbortSignal, told: (hits: Where[], done: boolean) => void, limit = 5_000): Promise<void> {
    const wanted = text.toLowerCase();
    const hits: Where[] = [];
    const last = Math.ceil((this.rows + this.skip) / this.chunk);
    for (let n = 0; n < last && hits.length < limit; n++) {
      const rows = await this.get(n);
      if (signal.aborted) return;
      const before = hits.length;
      rows.forEach((cells, i) => {
        const row = n * this.chunk + i - this.skip;
        if (row < 0) return;
        cells.forEach((cell, column) => {
          if (hits.length < limit && written(cell).toLowerCase().includes(wanted)) hits.push({ row, column });
        });
      });
      if (hits.length > before) told([...hits], false);
    }
    told(hits, true);
  }
}

export function written(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "boolean" ? (cell ? "TRUE" : "FALSE") : String(cell);
}

/** Whether a cell is aligned to the right: a number, or a text that looks like one. */
export function isNumber(cell: Cell | undefined): boolean {
  return typeof cell === "number" || (typeof cell === "string" && /^\s*[-+]?[$€£]?\d[\d.,' ]*%?\s*$/.test(cell));
}

const [NARROW, WIDE, LETTER, PADDING] = [56, 340, 7.4, 18];

/** Widths of columns in pixels, from a sample of rows. */
export function widths(columns: number, header: readonly string[], sample: readonly (Cell[] | undefined)[]): Float64Array {
  const out = new Float64Array(columns);
  for (let column = 0; column < columns; column++) {
    let longest = (header[column] ?? "").length;
    for (const row of sample) longest = Math.max(longest, Math.min(60, written(row?.[column]).length));
    out[column] = Math.max(NARROW, Math.min(WIDE, Math.round(longest * LETTER + PADDING)));
  }
  return out;
}

/** Left edges of columns, with the total width at the end. */
export function edges(width: ArrayLike<number>): Float64Array {
  const out = new Float64Array(width.length + 1);
  for (let n = 0; n < width.length; n++) out[n + 1] = (out[n] as number) + (width[n] as number);
  return out;
}

/** Copy rows and columns as text that spreadsheets can paste. */
export function copied(sheet: Sheet, from: Where, to: Where): string {
  const [top, bottom] = [Math.min(from.row, to.row), Math.max(from.row, to.row)];
  const [left, right] = [Math.min(from.column, to.column), Math.max(from.column, to.column)];
  const lines: string[] = [];
  for (let row = top; row <= bottom; row++) {
    const cells = sheet.row(row) ?? [];
    const line: string[] = [];
    for (let column = left; column <= right; column++) {
      const text = written(cells[column]);
      line.push(/[\t\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    }
    lines.push(line.join("\t"));
  }
  return lines.join("\n");
}
