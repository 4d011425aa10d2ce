/** The tables of a view, as docs/reference/viewing.md describes them. */

import type { Context } from "../../context.svelte.ts";
import { Sheet, type Cell } from "./sheet.ts";

export interface SheetMeta {
  name: string;
  rows: number;
  shown: number;
  columns: number;
  truncated: boolean;
  hidden?: boolean;
  formulas?: number;
  header?: string[];
  type?: string;
}

/** Most columns kept; the server counts further ones. */
const COLUMNS = 500;
const EMPTY: Cell[][] = [];

/** The nth table; `skip` rows of it are a header. */
export function sheetOf(ctx: Context, number: number, skip = 0): Sheet {
  const meta = (ctx.view.meta.sheets as SheetMeta[])[number] as SheetMeta;
  const chunk = Number(ctx.view.meta.chunk) || 500;
  const load = async (n: number): Promise<Cell[][]> => {
    const name = `${number}/${n}`;
    return ctx.has(name) ? ctx.json<Cell[][]>(name) : EMPTY;
  };
  return new Sheet(Math.max(0, meta.shown - skip), Math.min(COLUMNS, meta.columns), chunk, load, skip);
}
