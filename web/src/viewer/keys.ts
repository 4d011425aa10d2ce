/** Keys that the viewer has no use for belong to the app, which sits in another window. */

import type { Key } from "@shared/protocol.ts";

const SCROLLS = new Set([
  "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", " ",
]); // prettier-ignore
const ACTS = "button, a[href], select, summary, [role=tab], [role=treeitem], [role=slider], [role=gridcell], video, audio";

/** Arrow keys along a row of tabs: the index that is chosen next, which also gets the focus. */
export function along(event: KeyboardEvent, chosen: number, row: HTMLElement): number {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step) return chosen;
  event.preventDefault();
  const next = (chosen + step + row.children.length) % row.children.length;
  (row.children[next] as HTMLElement | undefined)?.focus();
  return next;
}

/** The message for the app, or nothing where the key is the viewer's or the browser's own. */
export function upward(event: KeyboardEvent): Key | undefined {
  if (event.defaultPrevented || event.isComposing) return undefined;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest("input, textarea, select, [contenteditable=true]") && event.key !== "Escape") return undefined;
  const plain = !event.ctrlKey && !event.altKey && !event.metaKey;
  if (plain && SCROLLS.has(event.key)) return undefined;
  if (plain && event.key === "Enter" && target?.closest(ACTS)) return undefined;
  const { key, code, ctrlKey: ctrl, shiftKey: shift, altKey: alt, metaKey: meta } = event;
  return { ws: 1, type: "key", key, code, ctrl, shift, alt, meta };
}
