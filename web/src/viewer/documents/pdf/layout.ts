/** Where each page of a document lies, in pixels, at a zoom and a rotation. */

export interface Size {
  width: number;
  height: number;
}

export type Zoom = number | "width" | "page";
export const GAP = 10;
/** CSS pixels per point at 100 %. */
export const POINT = 96 / 72;
/** Small pages are not blown up to fill a wide pane. */
const WIDEST = 2;

export interface Layout {
  /** Top of each page, and at the end the whole height. */
  starts: Float64Array;
  scale: number;
  widest: number;
}

/** Pixels per point. `first`: the page that "width" and "page" fit. */
export function scaleOf(zoom: Zoom, first: Size, port: Size): number {
  const width = Math.max(80, port.width - 2 * GAP) / first.width;
  if (zoom === "width") return Math.min(width, WIDEST * POINT);
  if (zoom === "page") return Math.min(width, Math.max(80, port.height - 2 * GAP) / first.height);
  return zoom * POINT;
}

export function turned(size: Size, rotation: number): Size {
  return rotation % 180 === 0 ? size : { width: size.height, height: size.width };
}

/** `known`: sizes in points of pages that were opened; the others are taken to be like the first. */
export function layout(count: number, usual: Size, known: Map<number, Size>, rotation: number, scale: number): Layout {
  const starts = new Float64Array(count + 1);
  let [at, widest] = [GAP, 0];
  for (let page = 0; page < count; page++) {
    const { width, height } = turned(known.get(page) ?? usual, rotation);
    starts[page] = at;
    at += Math.round(height * scale) + GAP;
    widest = Math.max(widest, width * scale);
  }
  starts[count] = at;
  return { starts, scale, widest };
}
