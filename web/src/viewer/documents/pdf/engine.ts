/** pdf.js, with all of its resources on this origin and without `eval`. */

import * as pdfjs from "pdfjs-dist";
import type { PDFDocumentLoadingTask, PDFDocumentProxy } from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";

export { TextLayer } from "pdfjs-dist";
export type { PDFDocumentProxy, PDFPageProxy } from "pdfjs-dist";

const ASSETS = new URL(`/assets/pdfjs-${pdfjs.version}/`, location.href).href;
/** Most pixels of a picture in a document; larger ones are left out to save memory. */
const PIXELS = 120_000_000;

let worker: pdfjs.PDFWorker | undefined;

function shared(): pdfjs.PDFWorker {
  if (!worker || worker.destroyed) {
    worker = new pdfjs.PDFWorker({ port: new Worker(workerUrl, { type: "module" }) as unknown as null });
  }
  return worker;
}

/** Start to read a document; `task.destroy()` stops it. */
export function open(url: string): PDFDocumentLoadingTask {
  return pdfjs.getDocument({
    url,
    worker: shared(),
    isEvalSupported: false,
    enableXfa: false,
    cMapUrl: `${ASSETS}cmaps/`,
    standardFontDataUrl: `${ASSETS}standard_fonts/`,
    wasmUrl: `${ASSETS}wasm/`,
    iccUrl: `${ASSETS}iccs/`,
    useWorkerFetch: true,
    maxImageSize: PIXELS,
    verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
}

/** Describe why a document cannot be opened. */
export function reason(fault: unknown): string {
  const name = fault instanceof Error ? fault.name : "";
  if (name === "PasswordException") return "The PDF is protected by a password, so its pages cannot be shown.";
  if (name === "InvalidPDFException") return "The PDF is damaged and cannot be shown.";
  const what = fault instanceof Error ? fault.message : String(fault);
  return `The PDF cannot be shown: ${what}`;
}

export type Document = PDFDocumentProxy;
