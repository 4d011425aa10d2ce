/** Find a text in a document, page by page; long documents give their first hits at once. */

import type { PDFDocumentProxy } from "pdfjs-dist";

export interface PageHits {
  page: number;
  count: number;
}

const MOST = 5_000;

/** The text of a page as the text layer writes it, one piece per element. */
export async function pieces(document: PDFDocumentProxy, page: number): Promise<string[]> {
  const proxy = await document.getPage(page + 1);
  const { items } = await proxy.getTextContent();
  return items.map((item) => ("str" in item ? item.str : ""));
}

/** How often `text` occurs, whatever its case; pieces are joined as they come. */
export function occurrences(parts: readonly string[], text: string): number {
  const [whole, wanted] = [parts.join("").toLowerCase(), text.toLowerCase()];
  let count = 0;
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + wanted.length)) count++;
  return count;
}

/** Tells hits as they are found; ends when `signal` does, or with 5,000 hits. */
export async function search(
  document: PDFDocumentProxy,
  text: string,
  signal: AbortSignal,
  told: (hits: PageHits[], done: boolean) => void,
): Promise<void> {
  const hits: PageHits[] = [];
  let total = 0;
  for (let page = 0; page < document.numPages && total < MOST; page++) {
    const count = occurrences(await pieces(document, page), text);
    if (signal.aborted) return;
    if (count) hits.push({ page, count });
    total += count;
    if (count || page % 50 === 0) told([...hits], false);
  }
  told(hits, true);
}

/** Which hit of which page the nth of all is. */
export function locate(hits: readonly PageHits[], nth: number): { page: number; within: number } | undefined {
  let left = nth;
  for (const { page, count } of hits) {
    if (left < count) return { page, within: left };
    left -= count;
  }
  return undefined;
}

/** Ranges of a text in an element's text nodes, in order, across nodes. */
export function ranges(root: HTMLElement, text: string): Range[] {
  const walker = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes: { node: Text; start: number }[] = [];
  let whole = "";
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    nodes.push({ node, start: whole.length });
    whole += node.data;
  }
  const [lower, wanted] = [whole.toLowerCase(), text.toLowerCase()];
  const place = (offset: number, end: boolean): [Text, number] | undefined => {
    const found = nodes.findLast(({ start }) => (end ? start < offset : start <= offset));
    return found && [found.node, offset - found.start];
  };
  const out: Range[] = [];
  for (let at = wanted ? lower.indexOf(wanted) : -1; at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
    const [from, to] = [place(at, false), place(at + wanted.length, true)];
    if (!from || !to) break;
    const range = root.ownerDocument.createRange();
    range.setStart(...from);
    range.setEnd(...to);
    out.push(range);
  }
  return out;
}
