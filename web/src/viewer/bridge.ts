/** The viewer's side of the messages with the app's page; only that page's own window is accepted. */

import { toViewer, type FromViewer, type ToViewer } from "@shared/protocol.ts";

/** The app's origin: this host without its first label, `v`. */
export function appOrigin(location: { protocol: string; host: string }): string {
  return `${location.protocol}//${location.host.replace(/^v\./, "")}`;
}

/** Whether an address is one of a deliverable's origins on this server, and nothing else. */
export function isContent(origin: string, location: { protocol: string; host: string }): boolean {
  const label = /^[a-z2-7]{32,52}$/;
  const prefix = `${location.protocol}//`;
  const suffix = `.c.${location.host.replace(/^v\./, "")}`;
  return origin.startsWith(prefix) && origin.endsWith(suffix) && label.test(origin.slice(prefix.length, -suffix.length));
}

export interface Bridge {
  tell: (what: FromViewer) => void;
  close: () => void;
}

/** Listen to the app; without an embedding app the viewer does nothing. */
export function bridge(onTold: (told: ToViewer) => void): Bridge {
  const app = appOrigin(location);
  const hear = (event: MessageEvent) => {
    if (event.origin !== app || event.source !== window.parent || window.parent === window) return;
    const told = toViewer(event.data);
    if (told && (told.type !== "show" || isContent(told.content, location))) onTold(told);
  };
  addEventListener("message", hear);
  return {
    tell: (what) => {
      if (window.parent !== window) window.parent.postMessage(what, app);
    },
    close: () => removeEventListener("message", hear),
  };
}
