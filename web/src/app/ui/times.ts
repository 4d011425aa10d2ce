/** Formats of times. The server's times are microseconds since 1970. */
export const moment = (micros: number): Date => new Date(micros / 1000);

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });

/** `12:03`. */
export const timeOf = (micros: number): string => clock.format(moment(micros));
/** `12 Nov 2026, 12:03`. */
export const whenOf = (micros: number): string => `${day.format(moment(micros))}, ${timeOf(micros)}`;
/** `12 min`, `40 s`. */
export function lengthOf(seconds: number): string {
  return seconds < 60 ? `${Math.floor(seconds)} s` : `${Math.floor(seconds / 60)} min`;
}
