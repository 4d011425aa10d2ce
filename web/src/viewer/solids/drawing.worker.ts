/** Worker that reads the SVG of a drawing into numbers. */

import { parse, type Lines } from "./lines.ts";

self.onmessage = ({ data }: MessageEvent<string>) => {
  try {
    const answer: Lines = parse(data, (what) => self.postMessage({ progress: what }));
    const { ops, points, boxes } = answer;
    const buffers = [ops, points, boxes, answer.opAt, answer.pointAt, answer.style, answer.layer].map((a) => a.buffer);
    self.postMessage({ answer }, { transfer: buffers });
  } catch (fault) {
    self.postMessage({ fault: fault instanceof Error ? fault.message : String(fault) });
  }
};
