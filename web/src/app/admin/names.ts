/** Names and labels for the admin's pages. */
import type { Schemas } from "../api.ts";
import { kindOf } from "./kinds.ts";

type Round = Schemas["RoundRow"];

/** The beginning of an id, long enough to tell two apart. */
export const brief = (id: string): string => id.slice(0, 8);

type Named = Pick<Round, "id" | "kind" | "state" | "experiment_name" | "over">;

/** Name a round: "Holistic: demo"; of a round that reviews it, "Audit of positives: holistic of demo". */
export function nameOf(round: Named, all: readonly Named[] = []): string {
  const kind = kindOf(round.kind).title;
  const what = round.state === "imported" ? `${kind}, imported` : kind;
  if (!round.over) return round.experiment_name ? `${what}: ${round.experiment_name}` : what;
  const other = all.find((r) => r.id === round.over);
  if (!other) return `${what} over ${brief(round.over)}`;
  const source = kindOf(other.kind).title.toLowerCase();
  return `${what}: ${source}${other.experiment_name ? ` of ${other.experiment_name}` : ""}`;
}

export const itemsText = (added: number): string => (added === 1 ? "1 item was added." : `${added} items were added.`);

export const RULES: Record<Schemas["ResolutionRule"], string> = {
  majority: "Majority of all votes",
  tie_break: "Two votes, and a third if they differ",
  latest: "The latest vote",
  mean: "The mean",
  verified: "One vote; a second verifies a yes, and a third decides if they differ",
};

export const STATES: Record<Round["state"], { label: string; tone: string }> = {
  open: { label: "Open", tone: "good" },
  paused: { label: "Paused", tone: "warn" },
  closed: { label: "Closed", tone: "" },
  imported: { label: "Imported", tone: "" },
};

/** The label and colour of a verdict. */
export function verdictOf(standing: string, passed: boolean | null): { label: string; tone: string } {
  if (standing === "undecided") return { label: "Undecided", tone: "warn" };
  if (standing !== "decided") return { label: "Ungraded", tone: "" };
  return passed ? { label: "Accepted", tone: "good" } : { label: "Not accepted", tone: "bad" };
}

export const BY: Record<Schemas["DecidedBy"], string> = { votes: "Votes", audit: "Audit", adjudication: "Adjudication" };

type Background = Schemas["EvaluatorBackground"];

/** An evaluator's background in a line; "" if unknown. */
export function backgroundOf(of: Background): string {
  const money = (n: number) => `$${n.toLocaleString("en-US")}`;
  return [
    of.domains.join(", "),
    of.hours === null ? "" : `${of.hours.toLocaleString("en")} h of work`,
    of.earnings === null ? "" : `${money(of.earnings)} earned`,
    of.rating === null ? "" : `rated ${of.rating}`,
    of.pay_rate === null ? "" : `${money(of.pay_rate)} an hour`,
  ]
    .filter(Boolean)
    .join("; ");
}

export const TRAITS: Record<keyof Background, string> = {
  domains: "Domain",
  hours: "Hours of work",
  earnings: "Earnings",
  rating: "Rating",
  pay_rate: "Pay",
};
