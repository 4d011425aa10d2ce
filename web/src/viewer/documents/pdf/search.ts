/** Search of a text in a document, page by page; the first hits of long documents appear at once. */

import type { PDFDocumentProxy } from "pdfjs-dist";

export interface PageHits {
  page: number;
  count: number;
}

const MOST = 5_000;

/** Return the text of a page in pieces, one per element of the text layer. */
export async function pieces(document: PDFDocumentProxy, page: number): Promise<string[]> {
  const proxy = await document.getPage(page + 1);
  const { items } = await proxy.getTextContent();
  return items.map((item) => ("str" in item ? item.str : ""));
}

/** Count occurrences of `text`, ignoring case, in the joined pieces. */
export function occurrences(parts: readonly string[], text: string): number {
  const [whole, wanted] = [parts.join("").toLowerCase(), text.toLowerCase()];
  let count = 0;
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + wanted.length)) count++;
  return count;
}

/** Report hits as they are found, until `signal` aborts, or 5,000 hits. */
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

/** Return the page and index of the nth hit. */
export function locate(hits: readonly PageHits[], nth: number): { page: number; within: number } | undefined {
  let left = nth;
  for (const { page, count } of hits) {
    if (left < count) return { page, within: left };
    left -= count;
  }
  return undefined;
}

/** Return the ranges of a text in an element's text nodes, also across nodes. */
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
