/** Windowing of very many rows. Browsers lay out at most about 17 million pixels, so longer content is
 * scrolled through proportionally. */

export const TALLEST = 15_000_000;

export interface Scale {
  /** Height of the scrolled element in pixels. */
  height: number;
  /** Pixels of content per pixel scrolled; 1 unless the content is too tall. */
  factor: number;
}

/** `total`: pixels of all content; `port`: visible pixels. */
export function scale(total: number, port: number): Scale {
  const height = Math.min(total, TALLEST);
  const room = height - port;
  return { height, factor: total > height && room > 0 ? (total - port) / room : 1 };
}

export interface Span {
  first: number;
  /** One past the last. */
  end: number;
  /** Top of the first row in the scrolled element, in pixels. */
  top: number;
}

/** Rows of equal height. `spare`: rows beyond the edges, so that slow scrolling shows no gaps. */
export function span(count: number, row: number, scrolled: number, port: number, spare = 8): Span {
  const { factor } = scale(count * row, port);
  const at = scrolled * factor;
  const first = Math.max(0, Math.min(count, Math.floor(at / row)) - spare);
  const end = Math.min(count, Math.ceil((at + port) / row) + spare);
  return { first, end, top: scrolled + (first * row - at) };
}

/** Return the scroll position that puts content at `offset` pixels at the top. */
export function scrollTo(offset: number, total: number, port: number): number {
  return Math.max(0, offset / scale(total, port).factor);
}

/** Index of the last of ascending `starts` that is at most `offset`. */
export function at(starts: ArrayLike<number>, offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Scroll position of an event's element from 0 to 1; the event may arrive after its viewer is gone. */
export function scrolledPart(box: Element): number {
  return box.scrollTop / Math.max(1, box.scrollHeight - box.clientHeight);
}

/** Report an element's inner size now and after changes; returns a function that stops it. */
export function sized(box: Element, tell: (port: { width: number; height: number }) => void): () => void {
  const watch = new ResizeObserver(() => tell({ width: box.clientWidth, height: box.clientHeight }));
  watch.observe(box);
  return () => watch.disconnect();
}
