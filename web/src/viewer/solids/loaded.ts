/** A model in memory, whatever it was read from. */

import type { AnimationClip, Object3D } from "three";

/** A branch of a part tree. Showing or hiding what it stands for is up to who made it. */
export interface Part {
  key: string;
  name: string;
  /** A word beside the name: a type, a count. */
  note?: string;
  children: Part[];
}

/** How many parts there are, with all within them. */
export function count(parts: Part[]): number {
  return parts.reduce((sum, part) => sum + 1 + count(part.children), 0);
}

export interface Loaded {
  root: Object3D;
  clips: AnimationClip[];
  /** Which axis points up in the file. */
  up: "y" | "z";
  /** Of its lengths; empty where the format has none. */
  unit: string;
  /** What is wrong with it, in sentences. */
  notes: string[];
}

/** Run a worker for one answer. `progress` messages are strings. Throws what the worker says went wrong. */
export function once<Answer>(
  worker: Worker,
  message: unknown,
  transfer: Transferable[],
  signal: AbortSignal,
  progress: (what: string) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DOMException("Another file was asked for.", "AbortError"));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    worker.onmessage = ({ data }: MessageEvent<{ progress?: string; fault?: string; answer?: Answer }>) => {
      if (data.progress !== undefined) return progress(data.progress);
      signal.removeEventListener("abort", stop);
      if (data.fault !== undefined) reject(new Error(data.fault));
      else resolve(data.answer as Answer);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message || "The reader of this format stopped: the file may be too large for it."));
    };
    worker.postMessage(message, transfer);
  });
}
