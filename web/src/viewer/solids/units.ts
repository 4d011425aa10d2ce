/** Lengths of drawings. */

/** Units by DXF number ($INSUNITS). */
export const UNITS = [
  "", " in", " ft", " mi", " mm", " cm", " m", " km", " µin", " mil", " yd", " Å", " nm", " µm", " dm", " dam", " hm", " Gm",
]; // prettier-ignore

/** Format with six digits, more than a screen can show. */
export function number(value: number): string {
  return Number(value.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/**
 * Convert a point of the sheet to the drawing's coordinates. `matrix`: a, b, c, d, e, f of
 * x' = a x + c y + e, y' = b x + d y + f, from drawing to sheet. Undefined if it is not invertible.
 */
export function toDrawing(matrix: number[] | undefined, x: number, y: number): number[] {
  if (!matrix || matrix.length !== 6) return [];
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = matrix;
  const det = a * d - b * c;
  if (!det) return [];
  return [(d * (x - e) - c * (y - f)) / det, (a * (y - f) - b * (x - e)) / det];
}
