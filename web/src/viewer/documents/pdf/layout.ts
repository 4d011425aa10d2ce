/** Positions of a document's pages in pixels, at a zoom and a rotation. */

export interface Size {
  width: number;
  height: number;
}

export type Zoom = number | "width" | "page";
export const GAP = 10;
/** CSS pixels per point at 100 %. */
export const POINT = 96 / 72;
/** Largest zoom for fitting, so that small pages do not fill a wide pane. */
const WIDEST = 2;

export interface Layout {
  /** Tops of pages, with the total height at the end. */
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

/** `known`: sizes in points of opened pages; others are assumed equal to the first. */
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
