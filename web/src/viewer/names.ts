/** Display forms of paths and numbers. */

/** Decode a quoted path of a manifest, in which `%` and bytes that are no text are written as %XX. */
export function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const UNITS = ["bytes", "KB", "MB", "GB", "TB"];

export function size(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return unit === 0 ? `${bytes.toLocaleString("en")} bytes` : `${value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** Spreadsheet letters of a column: 0 -> A, 25 -> Z, 26 -> AA. */
export function letters(column: number): string {
  let out = "";
  for (let n = column + 1; n > 0; n = Math.floor((n - 1) / 26)) out = String.fromCharCode(65 + ((n - 1) % 26)) + out;
  return out;
}

/** Encode a quoted path for an address without quoting it twice. */
export function addressed(path: string): string {
  return path
    .split(/(%[0-9A-F]{2}|\/)/)
    .map((part, n) => (n % 2 ? part : encodeURIComponent(part)))
    .join("");
}
