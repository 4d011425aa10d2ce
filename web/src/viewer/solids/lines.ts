/**
 * A drawing as numbers.
 *
 * The server draws layouts as SVG. Shown inline, a hundred thousand elements make every pan wait for a second, and markup
 * of a converter that a hostile file took over would come into the page; as a picture it is rasterised anew at every
 * zoom, all of it, and cannot hide a layer. Therefore the text is read into typed arrays: nothing of it reaches the
 * document but numbers and checked colours, lines stay sharp at every zoom, and only what is in sight is drawn.
 */

export const MOVE = 0;
export const LINE = 1;
export const QUAD = 2;
export const CUBIC = 3;
export const CLOSE = 4;

export interface Style {
  stroke: string;
  fill: string;
  /** In units of the drawing's space. */
  width: number;
  opacity: number;
}

export interface Lines {
  width: number;
  height: number;
  background: string;
  styles: Style[];
  ops: Uint8Array;
  points: Float64Array;
  /** Start of each path's ops and points, with a final end. */
  opAt: Uint32Array;
  pointAt: Uint32Array;
  style: Uint16Array;
  /** Layer number of each path; -1 if unknown. */
  layer: Int32Array;
  /** x0, y0, x1, y1 of each path */
  boxes: Float64Array;
}

const NUMBER = /-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[a-zA-Z]/g;
const COLOUR = /^(#[0-9a-f]{6}|none)$/i;

class Growing<T extends Uint8Array | Float64Array> {
  length = 0;
  constructor(public array: T) {}

  push(value: number): void {
    if (this.length === this.array.length) {
      const wider = new (this.array.constructor as new (n: number) => T)(this.array.length * 2);
      wider.set(this.array);
      this.array = wider;
    }
    this.array[this.length++] = value;
  }

  get done(): T {
    return this.array.slice(0, this.length) as T;
  }
}

/** Parse a drawing. Throws if the text is none. */
export function parse(svg: string, progress: (what: string) => void = () => undefined): Lines {
  const view = /<svg\b[^>]*\bviewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg);
  if (!view) throw new Error("The drawing is empty.");
  const [styles, byClass] = stylesOf(svg);
  const [ops, points] = [new Growing(new Uint8Array(1 << 16)), new Growing(new Float64Array(1 << 17))];
  const [opAt, pointAt, style, layer, boxes]: number[][] = [[], [], [], [], []] as number[][];
  for (const found of svg.matchAll(/<path\b([^>]*)>/g)) {
    const attributes = found[1] ?? "";
    const d = /\bd="([^"]*)"/.exec(attributes)?.[1] ?? "";
    const begin = [ops.length, points.length];
    const box = path(d, ops, points);
    if (!box) {
      [ops.length, points.length] = begin as [number, number];
      continue;
    }
    opAt?.push(begin[0] ?? 0);
    pointAt?.push(begin[1] ?? 0);
    boxes?.push(...box);
    style?.push(byClass.get(/\bclass="(\w+)"/.exec(attributes)?.[1] ?? "") ?? 0);
    layer?.push(Number(/\bdata-layer="(\d{1,6})"/.exec(attributes)?.[1] ?? -1));
    if (opAt && opAt.length % 20_000 === 0) progress(`Reading the drawing, ${opAt.length.toLocaleString("en")} lines`);
  }
  opAt?.push(ops.length);
  pointAt?.push(points.length);
  const background = /<rect\b[^>]*\bfill="(#[0-9a-fA-F]{6})"/.exec(svg)?.[1] ?? "#ffffff";
  return {
    width: Number(view[1]),
    height: Number(view[2]),
    background,
    styles,
    ops: ops.done,
    points: points.done,
    opAt: Uint32Array.from(opAt ?? []),
    pointAt: Uint32Array.from(pointAt ?? []),
    style: Uint16Array.from(style ?? []),
    layer: Int32Array.from(layer ?? []),
    boxes: Float64Array.from(boxes ?? []),
  };
}

function stylesOf(svg: string): [Style[], Map<string, number>] {
  const styles: Style[] = [{ stroke: "#808080", fill: "none", width: 0, opacity: 1 }];
  const byClass = new Map<string, number>();
  for (const [, name, body] of svg.matchAll(/\.(\w+)\s*\{([^}]*)\}/g)) {
    const value = (key: string) => new RegExp(`(?:^|[;\\s])${key}:\\s*([^;]+)`).exec(body ?? "")?.[1]?.trim() ?? "";
    const colour = (key: string) => (COLOUR.test(value(key)) ? value(key).toLowerCase() : "none");
    const [stroke, fill] = [colour("stroke"), colour("fill")];
    const opacity = Number(value(fill === "none" ? "stroke-opacity" : "fill-opacity"));
    byClass.set(name ?? "", styles.length);
    styles.push({ stroke, fill, width: Number(value("stroke-width")) || 0, opacity: opacity > 0 && opacity < 1 ? opacity : 1 });
    if (styles.length > 60_000) break;
  }
  return [styles, byClass];
}

type Box = [number, number, number, number];

/** Parse commands M, L, Q, C, Z into absolute points; return their box, or undefined if malformed. */
function path(d: string, ops: Growing<Uint8Array>, points: Growing<Float64Array>): Box | undefined {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  let [x, y, startX, startY, command] = [0, 0, 0, 0, ""];
  const pending: number[] = [];
  const put = (px: number, py: number) => {
    points.push(px);
    points.push(py);
    if (px < box[0]) box[0] = px;
    if (py < box[1]) box[1] = py;
    if (px > box[2]) box[2] = px;
    if (py > box[3]) box[3] = py;
  };
  for (const [token] of d.matchAll(NUMBER)) {
    const code = token.charCodeAt(0);
    if (code > 57) {
      if (token === "Z" || token === "z") {
        ops.push(CLOSE);
        [x, y] = [startX, startY];
      }
      command = token;
      pending.length = 0;
      continue;
    }
    pending.push(Number(token));
    const kind = command.toLowerCase();
    const wants = kind === "c" ? 6 : kind === "q" ? 4 : kind === "m" || kind === "l" ? 2 : 0;
    if (wants === 0) return undefined;
    if (pending.length < wants) continue;
    const relative = command === kind;
    for (let i = 0; i < wants; i += 2) {
      put((pending[i] ?? 0) + (relative ? x : 0), (pending[i + 1] ?? 0) + (relative ? y : 0));
    }
    ops.push(kind === "c" ? CUBIC : kind === "q" ? QUAD : kind === "l" ? LINE : MOVE);
    [x, y] = [points.array[points.length - 2] ?? 0, points.array[points.length - 1] ?? 0];
    if (kind === "m") {
      [startX, startY] = [x, y];
      command = relative ? "l" : "L";
    }
    pending.length = 0;
  }
  return box[0] <= box[2] && Number.isFinite(box[0] + box[1] + box[2] + box[3]) ? box : undefined;
}

/** The box without the outermost 1 % of paths on each side. */
export function middle(lines: Lines): Box {
  const side = (offset: number, share: number) => {
    const values = lines.boxes.filter((_, i) => i % 4 === offset).sort();
    return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
  };
  return [side(0, 0.01), side(1, 0.01), side(2, 0.99), side(3, 0.99)];
}

/** The box of all paths. */
export function whole(lines: Lines): Box {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < lines.boxes.length; i += 4) {
    box[0] = Math.min(box[0], lines.boxes[i] ?? 0);
    box[1] = Math.min(box[1], lines.boxes[i + 1] ?? 0);
    box[2] = Math.max(box[2], lines.boxes[i + 2] ?? 0);
    box[3] = Math.max(box[3], lines.boxes[i + 3] ?? 0);
  }
  return box;
}
