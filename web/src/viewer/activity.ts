/** The app counts time at work and sees nothing of what is done within this frame: tell it, now and then. */
import type { FromViewer } from "@shared/protocol.ts";
import { appOrigin } from "./bridge.ts";

const EVERY = 5_000;
const SIGNS = ["pointermove", "pointerdown", "wheel", "keydown", "touchmove"] as const;

/** Runs `tell` at most once in `EVERY` milliseconds, from the first sign on. */
export function sparsely(tell: () => void, now: () => number): () => void {
  let last = -Infinity;
  return () => {
    if (now() - last < EVERY) return;
    last = now();
    tell();
  };
}

/** For as long as the page lives. */
export function tellActivity(): void {
  if (window.parent === window) return;
  const told: FromViewer = { ws: 1, type: "active" };
  const note = sparsely(
    () => window.parent.postMessage(told, appOrigin(location)),
    () => performance.now(),
  );
  for (const sign of SIGNS) window.addEventListener(sign, note, { passive: true, capture: true });
  // A press within a site or a page of the deliverable's own is seen by where the keyboard goes.
  window.addEventListener("blur", note);
}
