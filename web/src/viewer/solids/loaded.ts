/** A loaded model of any format. */

import type { AnimationClip, Object3D } from "three";

/** A branch of a part tree. Its creator shows or hides the parts. */
export interface Part {
  key: string;
  name: string;
  /** A note beside the name: a type, a count. */
  note?: string;
  children: Part[];
}

/** Count the parts, including nested ones. */
export function count(parts: Part[]): number {
  return parts.reduce((sum, part) => sum + 1 + count(part.children), 0);
}

export interface Loaded {
  root: Object3D;
  clips: AnimationClip[];
  /** The axis that points up in the file. */
  up: "y" | "z";
  /** Unit of lengths; empty if the format has none. */
  unit: string;
  /** Faults of the model, in sentences. */
  notes: string[];
}

/** Run a worker for one reply. `progress` messages are strings. Throws the worker's error. */
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
