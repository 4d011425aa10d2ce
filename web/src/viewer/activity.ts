/** Reports activity within this frame to the app, which counts working time and cannot see it. */
import type { FromViewer } from "@shared/protocol.ts";
import { appOrigin } from "./bridge.ts";

const EVERY = 5_000;
const SIGNS = ["pointermove", "pointerdown", "wheel", "keydown", "touchmove"] as const;

/** Run `tell` at the first activity, then at most once in `EVERY` milliseconds. */
export function sparsely(tell: () => void, now: () => number): () => void {
  let last = -Infinity;
  return () => {
    if (now() - last < EVERY) return;
    last = now();
    tell();
  };
}

/** Listen for the page's lifetime. */
export function tellActivity(): void {
  if (window.parent === window) return;
  const told: FromViewer = { ws: 1, type: "active" };
  const note = sparsely(
    () => window.parent.postMessage(told, appOrigin(location)),
    () => performance.now(),
  );
  for (const sign of SIGNS) window.addEventListener(sign, note, { passive: true, capture: true });
  // A click inside a deliverable's own page is detected by the change of focus.
  window.addEventListener("blur", note);
}
