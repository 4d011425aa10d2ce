/** A figure as the server sends it (`worksample.metrics.Estimate`), put in words and placed on an axis. */
import type { Schemas } from "../api.ts";

export type Figure = Schemas["Figure"];
/** A figure, or why there is none. */
export type AnyFigure = Figure | Schemas["NoFigure"];

/** For a part of a dashboard: whether it says that there is nothing. */
export function none(part: object): part is Schemas["NoFigure"] {
  return "none" in part;
}

/** "94.4 %", "0.812", or a dash: what does not exist is never 0. */
export function valueText(e: AnyFigure): string {
  if (none(e)) return "–";
  return e.unit === "share" || e.unit === "points" ? `${e.printed} %` : e.printed;
}

function end(e: Figure, value: number): string {
  return e.unit === "share" || e.unit === "points" ? (value * 100).toFixed(1) : value.toFixed(3);
}

/** "81.2 to 97.0 %", "at most 5.8 %", or nothing where there is no interval. */
export function intervalText(e: AnyFigure): string {
  if (none(e)) return "";
  const sign = e.unit === "share" || e.unit === "points" ? " %" : "";
  if (e.low !== null && e.high !== null) return `${end(e, e.low)} to ${end(e, e.high)}${sign}`;
  if (e.high !== null) return `at most ${end(e, e.high)}${sign}`;
  if (e.low !== null) return `at least ${end(e, e.low)}${sign}`;
  return "";
}

/** "n = 12 of 14; 2 ungraded, 36 votes": what it rests on. Counts of zero are left out. */
export function countsText(e: Figure): string {
  const { planned, valid, special, infrastructure_failed, ungraded, pending } = e.counts;
  const named = { failed: infrastructure_failed, ungraded, pending, ...special };
  const rest = Object.entries(named).filter(([, n]) => n > 0);
  const n = valid === planned ? `n = ${valid}` : `n = ${valid} of ${planned}`;
  return rest.length === 0 ? n : `${n}; ${rest.map(([name, count]) => `${count} ${name}`).join(", ")}`;
}

/** Where a share lies on an axis from `left` to `right`, in the same units as they are. */
export function place(value: number, left: number, right: number): number {
  return left + Math.min(1, Math.max(0, value)) * (right - left);
}
