/** Batches of shapes by colour: a graphics card draws ten batches faster than fifty thousand walls. */

export interface Batch {
  colour: [number, number, number, number];
  position: Float32Array;
  normal: Float32Array;
  index: Uint32Array;
  /** element, start and count in the index: three numbers for each shape, in the order of the index */
  ranges: Uint32Array;
}

interface Open {
  colour: Batch["colour"];
  points: Float32Array[];
  normals: Float32Array[];
  indices: Uint32Array[];
  ranges: number[];
  vertices: number;
  corners: number;
}

export class Batches {
  private readonly open = new Map<string, Open>();

  /** `points`: position and normal of each vertex in turn; `matrix`: 16 numbers, column by column. */
  add(id: number, colour: Batch["colour"], points: Float32Array, index: Uint32Array, matrix: number[]): void {
    if (index.length === 0) return;
    const key = colour.map((value) => Math.round(value * 255)).join();
    const batch = this.open.get(key) ?? {
      colour, points: [], normals: [], indices: [], ranges: [], vertices: 0, corners: 0,
    }; // prettier-ignore
    this.open.set(key, batch);
    const count = Math.floor(points.length / 6);
    const [position, normal] = [new Float32Array(count * 3), new Float32Array(count * 3)];
    const m = (i: number) => matrix[i] ?? 0;
    const p = (i: number) => points[i] ?? 0;
    for (let i = 0; i < count; i++) {
      for (let row = 0; row < 3; row++) {
        const [a, b, c] = [m(row), m(4 + row), m(8 + row)];
        position[i * 3 + row] = a * p(i * 6) + b * p(i * 6 + 1) + c * p(i * 6 + 2) + m(12 + row);
        normal[i * 3 + row] = a * p(i * 6 + 3) + b * p(i * 6 + 4) + c * p(i * 6 + 5);
      }
    }
    batch.points.push(position);
    batch.normals.push(normal);
    batch.indices.push(index.map((at) => at + batch.vertices));
    batch.ranges.push(id, batch.corners, index.length);
    batch.vertices += count;
    batch.corners += index.length;
  }

  done(): Batch[] {
    return [...this.open.values()].map((batch) => ({
      colour: batch.colour,
      position: joined(new Float32Array(batch.vertices * 3), batch.points),
      normal: joined(new Float32Array(batch.vertices * 3), batch.normals),
      index: joined(new Uint32Array(batch.corners), batch.indices),
      ranges: Uint32Array.from(batch.ranges),
    }));
  }
}

function joined<T extends Float32Array | Uint32Array>(into: T, parts: T[]): T {
  let at = 0;
  for (const part of parts) {
    into.set(part, at);
    at += part.length;
  }
  return into;
}

/** Return a batch's index without hidden elements, and the remaining ranges at their new positions. */
export function without(batch: Batch, hidden: ReadonlySet<number>): { index: Uint32Array; ranges: Uint32Array } {
  if (hidden.size === 0) return { index: batch.index, ranges: batch.ranges };
  const index = new Uint32Array(batch.index.length);
  const ranges: number[] = [];
  let at = 0;
  for (let i = 0; i < batch.ranges.length; i += 3) {
    const [id, start, count] = [batch.ranges[i] ?? 0, batch.ranges[i + 1] ?? 0, batch.ranges[i + 2] ?? 0];
    if (hidden.has(id)) continue;
    index.set(batch.index.subarray(start, start + count), at);
    ranges.push(id, at, count);
    at += count;
  }
  return { index: index.slice(0, at), ranges: Uint32Array.from(ranges) };
}

/** Return the element of an index's corner; a binary search over starts. */
export function owner(ranges: Uint32Array, corner: number): number | undefined {
  let [low, high] = [0, ranges.length / 3 - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const start = ranges[middle * 3 + 1] ?? 0;
    if (corner < start) high = middle - 1;
    else if (corner >= start + (ranges[middle * 3 + 2] ?? 0)) low = middle + 1;
    else return ranges[middle * 3];
  }
  return undefined;
}
