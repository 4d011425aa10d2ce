/** Texts and axis positions of figures from the server (`worksample.metrics.Estimate`). */
import type { Schemas } from "../api.ts";

export type Figure = Schemas["Figure"];
/** A figure, or the reason why it is missing. */
export type AnyFigure = Figure | Schemas["NoFigure"];

/** Whether a part of a dashboard has no data. */
export function none(part: object): part is Schemas["NoFigure"] {
  return "none" in part;
}

/** Format a value: "94.4 %", "0.812", or a dash. A missing figure is never 0. */
export function valueText(e: AnyFigure): string {
  if (none(e)) return "–";
  return e.unit === "share" || e.unit === "points" ? `${e.printed} %` : e.printed;
}

function end(e: Figure, value: number): string {
  return e.unit === "share" || e.unit === "points" ? (value * 100).toFixed(1) : value.toFixed(3);
}

/** Format an interval: "81.2 to 97.0 %", "at most 5.8 %", or "" without one. */
export function intervalText(e: AnyFigure): string {
  if (none(e)) return "";
  const sign = e.unit === "share" || e.unit === "points" ? " %" : "";
  if (e.low !== null && e.high !== null) return `${end(e, e.low)} to ${end(e, e.high)}${sign}`;
  if (e.high !== null) return `at most ${end(e, e.high)}${sign}`;
  if (e.low !== null) return `at least ${end(e, e.low)}${sign}`;
  return "";
}

/** Format counts: "n = 12 of 14; 2 ungraded, 36 votes". Zero counts are omitted. */
export function countsText(e: Figure): string {
  const { planned, valid, special, infrastructure_failed, ungraded, pending } = e.counts;
  const named = { failed: infrastructure_failed, ungraded, pending, ...special };
  const rest = Object.entries(named).filter(([, n]) => n > 0);
  const n = valid === planned ? `n = ${valid}` : `n = ${valid} of ${planned}`;
  return rest.length === 0 ? n : `${n}; ${rest.map(([name, count]) => `${count} ${name}`).join(", ")}`;
}

/** The position of a share on an axis from `left` to `right`, in their units. */
export function place(value: number, left: number, right: number): number {
  return left + Math.min(1, Math.max(0, value)) * (right - left);
}
