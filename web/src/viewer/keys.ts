/** Passing of keys that the viewer does not use to the app, which is another window. */

import type { Key } from "@shared/protocol.ts";

const SCROLLS = new Set([
  "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", " ",
]); // prettier-ignore
const ACTS = "button, a[href], select, summary, [role=tab], [role=treeitem], [role=slider], [role=gridcell], video, audio";

/** Handle arrow keys in a row of tabs: return the next index and focus it. */
export function along(event: KeyboardEvent, chosen: number, row: HTMLElement): number {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step) return chosen;
  event.preventDefault();
  const next = (chosen + step + row.children.length) % row.children.length;
  (row.children[next] as HTMLElement | undefined)?.focus();
  return next;
}

/** Return the message for the app, or undefined if the viewer or the browser uses the key. */
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
