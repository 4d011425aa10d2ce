/** Columns and their order, apart from how they look. */
export interface Column<T> {
  key: string;
  label: string;
  /** What is shown, unless the table has a `cell`, and what is sorted by. */
  value?: (row: T) => string | number | null;
  /** Not to be sorted by. */
  fixed?: boolean;
  /** Numbers stand at the end of the cell. */
  end?: boolean;
}
export interface Order {
  key: string;
  down: boolean;
}

/** Rows in order; those without a value come last either way, equal ones stay as they were. */
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
