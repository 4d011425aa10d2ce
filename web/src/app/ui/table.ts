/** Columns and sorting of tables, without their style. */
export interface Column<T> {
  key: string;
  label: string;
  /** The value to sort by, and to show if the table has no `cell`. */
  value?: (row: T) => string | number | null;
  /** Whether the column cannot be sorted by. */
  fixed?: boolean;
  /** Whether values are numbers, which are aligned to the end. */
  end?: boolean;
}
export interface Order {
  key: string;
  down: boolean;
}

/** Sort rows stably; rows without a value come last in both directions. */
export function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], order: Order | undefined): readonly T[] {
  const value = columns.find((column) => column.key === order?.key)?.value;
  if (!order || !value) return rows;
  const sign = order.down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}
