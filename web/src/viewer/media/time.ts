/** Formats of playing times, and frames of a film. */

/** Format 75.5 as "1:15.5"; `fine` adds milliseconds, for single frames. */
export function clock(seconds: number, fine = false): string {
  if (!Number.isFinite(seconds) || seconds < 0) return "–:––";
  const unit = fine ? 1000 : 10;
  const all = Math.floor(seconds * unit + 1e-6);
  const [rest, part] = [Math.floor(all / unit), all % unit];
  const [hours, minutes] = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60];
  const tail = `${String(rest % 60).padStart(2, "0")}.${String(part).padStart(fine ? 3 : 1, "0")}`;
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** Parse frames per second from ffprobe, such as "30000/1001"; 25 if it is unusable. */
export function rate(text: unknown): number {
  const [over, under] = String(text ?? "").split("/").map(Number);
  const found = (over ?? NaN) / (under ?? 1);
  return Number.isFinite(found) && found > 0.1 && found <= 1000 ? found : 25;
}

/** Return the time of the frame `steps` from the one at `seconds`; its middle, to avoid rounding at its start. */
export function frame(seconds: number, steps: number, perSecond: number): number {
  return Math.max(0, (Math.floor(seconds * perSecond + 1e-3) + steps + 0.5) / perSecond);
}
