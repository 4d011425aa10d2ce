/** The messages between the app's page and a viewer frame (postMessage). Both check origin and source. */

export type Theme = "light" | "dark";

/** A viewer's position in a file, so that two panes can show the same place. */
export interface Place {
  kind: string;
  page?: number;
  zoom?: number;
  scroll?: number;
  time?: number;
  camera?: number[];
}

export type ToViewer =
  | { ws: 1; type: "show"; content: string; path: string[]; theme: Theme; pane: string }
  | { ws: 1; type: "theme"; theme: Theme }
  | { ws: 1; type: "sync"; state: Place }
  | { ws: 1; type: "find" };

export interface Shown {
  ws: 1;
  type: "shown";
  path: string[];
  kind: string;
  badge: string;
  problem: string;
  inspectable: boolean;
  /** From "show" to the last pixel, in milliseconds. */
  ms: number;
  /** Facts that prove rendering: pages, rows, triangles, seconds... */
  report: Record<string, number | string | boolean>;
}

export interface Key {
  ws: 1;
  type: "key";
  key: string;
  code: string;
  ctrl: boolean;
  shift: boolean;
  alt: boolean;
  meta: boolean;
}

export type FromViewer =
  | { ws: 1; type: "ready" }
  | Shown
  | { ws: 1; type: "state"; state: Place }
  /** Activity within the frame, for the app's timer. At most one message in five seconds. */
  | { ws: 1; type: "active" }
  | Key
  | { ws: 1; type: "open"; path: string[] };

/** Steps of a path: each further step is inside the archive before it. */
const STEPS = 20;
const LONGEST = 20_000;
const TICKS = ["ctrl", "shift", "alt", "meta"];
type Plain = Record<string, unknown>;

function plain(data: unknown): data is Plain {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

function text(data: unknown): data is string {
  return typeof data === "string" && data.length <= LONGEST;
}

function number(data: unknown): data is number {
  return typeof data === "number" && Number.isFinite(data);
}

function path(data: unknown): data is string[] {
  return Array.isArray(data) && data.length > 0 && data.length <= STEPS && data.every(text);
}

function place(data: unknown): data is Place {
  if (!plain(data) || !text(data.kind)) return false;
  const { page, zoom, scroll, time, camera } = data;
  const sound = [page, zoom, scroll, time].every((one) => one === undefined || number(one));
  return sound && (camera === undefined || (Array.isArray(camera) && camera.length <= 32 && camera.every(number)));
}

function shown(data: Plain): boolean {
  const { kind, badge, problem, inspectable, ms, report } = data;
  return path(data.path) && [kind, badge, problem].every(text) && typeof inspectable === "boolean" && number(ms) && plain(report);
}

/** Validate a message from the app; undefined for anything else that arrives in the window. */
export function toViewer(data: unknown): ToViewer | undefined {
  if (!plain(data) || data.ws !== 1) return undefined;
  const theme = data.theme === "light" || data.theme === "dark";
  const sound =
    data.type === "show"
      ? theme && path(data.path) && text(data.content) && text(data.pane)
      : data.type === "theme"
        ? theme
        : data.type === "sync"
          ? place(data.state)
          : data.type === "find";
  return sound ? (data as unknown as ToViewer) : undefined;
}

/** Validate a message from a viewer; undefined for anything else. A viewer taken over by a hostile file may send anything. */
export function fromViewer(data: unknown): FromViewer | undefined {
  if (!plain(data) || data.ws !== 1) return undefined;
  const sound =
    data.type === "shown"
      ? shown(data)
      : data.type === "state"
        ? place(data.state)
        : data.type === "open"
          ? path(data.path)
          : data.type === "key"
            ? text(data.key) && text(data.code) && TICKS.every((tick) => typeof data[tick] === "boolean")
            : data.type === "ready" || data.type === "active";
  return sound ? (data as unknown as FromViewer) : undefined;
}
