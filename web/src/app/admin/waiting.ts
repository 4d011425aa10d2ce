/** Texts for remaining work. */
export const hoursText = (hours: number): string =>
  hours === 0 ? "none" : hours < 0.1 ? "under 0.1 h" : `${hours.toFixed(1)} h`;
export const payText = (pay: number | null): string => (pay === null ? "no pay rate known" : `$${pay.toFixed(2)}`);

/** Name the kinds of evaluators that disagree: "a judge and people". */
export function betweenText(kinds: readonly string[]): string {
  const words: Record<string, string> = { person: "people", judge: "a judge", program: "a program" };
  const [first = "", ...rest] = kinds.map((kind) => words[kind] ?? kind);
  if (rest.length === 0) return first === "people" ? "two people" : `${first} with itself`;
  return rest.length === 1 ? `${first} and ${rest[0]}` : `${first}, ${rest.slice(0, -1).join(", ")} and ${rest.at(-1)}`;
}
