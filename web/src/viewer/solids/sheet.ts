/** A drawing on a canvas: it is moved at once as a picture, then redrawn in slices so that the page stays responsive. */

import { CLOSE, CUBIC, LINE, MOVE, QUAD, type Lines } from "./lines.ts";

/** Milliseconds of drawing before the page may handle events. */
const SLICE = 12;
/** Size in pixels below which a path is drawn as a dot. */
const DOT = 0.7;

export interface At {
  /** Pixels per unit of the drawing's space. */
  scale: number;
  /** Position of the drawing's origin on the canvas, in CSS pixels. */
  x: number;
  y: number;
}

export class Sheet {
  at: At = { scale: 1, x: 0, y: 0 };
  hidden: ReadonlySet<number> = new Set();
  weights = false;
  /** Number of paths in the last finished picture. */
  drawn = 0;
  onDone: (() => void) | undefined;
  private readonly pen: CanvasRenderingContext2D;
  private readonly back = document.createElement("canvas");
  private readonly done = document.createElement("canvas");
  private doneAt: At = this.at;
  private width = 0;
  private height = 0;
  private run = 0;

  /** Throws if the browser has no canvas. */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly lines: Lines,
  ) {
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("This browser cannot draw. Download the original.");
    this.pen = pen;
  }

  resize(width: number, height: number): void {
    if (width < 1 || height < 1) return;
    const before = this.width > 0 ? this.place : undefined;
    [this.width, this.height] = [width, height];
    const ratio = devicePixelRatio || 1;
    for (const one of [this.canvas, this.back]) {
      [one.width, one.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    if (before) this.place = before;
    else this.draw();
  }

  /** Bring a box of the drawing into view. */
  show(box: [number, number, number, number]): void {
    const [wide, tall] = [Math.max(box[2] - box[0], 1e-9), Math.max(box[3] - box[1], 1e-9)];
    const scale = 0.94 * Math.min(this.width / wide, this.height / tall);
    const middle = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2] as const;
    this.move({ scale, x: this.width / 2 - middle[0] * scale, y: this.height / 2 - middle[1] * scale });
  }

  zoom(factor: number, x = this.width / 2, y = this.height / 2): void {
    const scale = Math.min(Math.max(this.at.scale * factor, 1e-9), 1e6);
    const by = scale / this.at.scale;
    this.move({ scale, x: x - (x - this.at.x) * by, y: y - (y - this.at.y) * by });
  }

  pan(x: number, y: number): void {
    this.move({ ...this.at, x: this.at.x + x, y: this.at.y + y });
  }

  move(at: At): void {
    this.at = at;
    this.draw();
  }

  /** Scale and centre relative to the sheet, for the other pane. */
  get place(): { zoom: number; camera: number[] } {
    const { scale, x, y } = this.at;
    const { width, height } = this.lines;
    const round = (value: number) => Math.round(value * 1e6) / 1e6;
    const middle = [(this.width / 2 - x) / scale / width, (this.height / 2 - y) / scale / height];
    return { zoom: round((scale * width) / this.width), camera: middle.map(round) };
  }

  set place({ zoom, camera: [x = 0.5, y = 0.5] }: { zoom: number; camera: number[] }) {
    if (!(zoom > 0) || !Number.isFinite(zoom + x + y)) return;
    const scale = (zoom * this.width) / this.lines.width;
    this.move({
      scale,
      x: this.width / 2 - x * this.lines.width * scale,
      y: this.height / 2 - y * this.lines.height * scale,
    });
  }

  /** Convert a point of the canvas to the drawing's space. */
  under(x: number, y: number): [number, number] {
    return [(x - this.at.x) / this.at.scale, (y - this.at.y) / this.at.scale];
  }

  draw(): void {
    const run = ++this.run;
    this.present();
    const pen = this.back.getContext("2d");
    if (!pen || this.width === 0) return;
    const ratio = devicePixelRatio || 1;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = this.lines.background;
    pen.fillRect(0, 0, this.width, this.height);
    [pen.lineCap, pen.lineJoin] = ["round", "round"];
    const at = this.at;
    let [next, count] = [0, 0];
    const slice = () => {
      if (run !== this.run) return;
      const until = performance.now() + SLICE;
      const total = this.lines.style.length;
      while (next < total && performance.now() < until) {
        const end = Math.min(total, next + 400);
        count += this.some(pen, at, next, end);
        next = end;
      }
      if (next < total) return void setTimeout(slice, 0);
      this.drawn = count;
      this.finish(at);
    };
    requestAnimationFrame(slice);
  }

  private finish(at: At): void {
    [this.done.width, this.done.height] = [this.back.width, this.back.height];
    this.done.getContext("2d")?.drawImage(this.back, 0, 0);
    this.doneAt = at;
    this.present();
    this.onDone?.();
  }

  /** Draw the last finished picture at its current position. */
  private present(): void {
    const ratio = devicePixelRatio || 1;
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
    this.pen.fillStyle = this.lines.background;
    this.pen.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.done.width === 0) return;
    const by = this.at.scale / this.doneAt.scale;
    const [x, y] = [this.at.x - this.doneAt.x * by, this.at.y - this.doneAt.y * by];
    this.pen.setTransform(by, 0, 0, by, x * ratio, y * ratio);
    this.pen.drawImage(this.done, 0, 0);
  }

  /** Draw paths `from` to `end` and return how many were visible. Neighbours of equal style share a stroke. */
  private some(pen: CanvasRenderingContext2D, at: At, from: number, end: number): number {
    const { boxes, style, layer } = this.lines;
    let [open, count] = [-1, 0];
    for (let i = from; i < end; i++) {
      if (this.hidden.has(layer[i] ?? -1)) continue;
      const x0 = (boxes[i * 4] ?? 0) * at.scale + at.x;
      const y0 = (boxes[i * 4 + 1] ?? 0) * at.scale + at.y;
      const x1 = (boxes[i * 4 + 2] ?? 0) * at.scale + at.x;
      const y1 = (boxes[i * 4 + 3] ?? 0) * at.scale + at.y;
      if (x1 < -2 || y1 < -2 || x0 > this.width + 2 || y0 > this.height + 2) continue;
      count++;
      if (style[i] !== open) {
        this.inked(pen, open, at);
        open = style[i] ?? 0;
        pen.beginPath();
      }
      if (x1 - x0 < DOT && y1 - y0 < DOT) {
        pen.rect(x0, y0, DOT, DOT);
      } else this.trace(pen, at, i);
    }
    this.inked(pen, open, at);
    return count;
  }

  private inked(pen: CanvasRenderingContext2D, number: number, at: At): void {
    const style = this.lines.styles[number];
    if (!style) return;
    pen.globalAlpha = style.opacity;
    if (style.fill !== "none") {
      pen.fillStyle = style.fill;
      pen.fill("evenodd");
    }
    if (style.stroke !== "none") {
      pen.strokeStyle = style.stroke;
      pen.lineWidth = this.weights ? Math.max(1, style.width * at.scale) : 1;
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  private trace(pen: CanvasRenderingContext2D, { scale, x, y }: At, number: number): void {
    const { ops, points, opAt, pointAt } = this.lines;
    let at = pointAt[number] ?? 0;
    const px = () => (points[at++] ?? 0) * scale + x;
    const py = () => (points[at++] ?? 0) * scale + y;
    for (let i = opAt[number] ?? 0; i < (opAt[number + 1] ?? 0); i++) {
      const op = ops[i];
      if (op === MOVE) pen.moveTo(px(), py());
      else if (op === LINE) pen.lineTo(px(), py());
      else if (op === QUAD) pen.quadraticCurveTo(px(), py(), px(), py());
      else if (op === CUBIC) pen.bezierCurveTo(px(), py(), px(), py(), px(), py());
      else if (op === CLOSE) pen.closePath();
    }
  }

  stop(): void {
    this.run++;
    this.onDone = undefined;
  }
}
