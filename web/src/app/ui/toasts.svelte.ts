/** Short messages that disappear by themselves. */
export type Tone = "info" | "good" | "warn" | "bad";
export interface Toast {
  id: number;
  text: string;
  tone: Tone;
}

export const toasts: Toast[] = $state([]);
let last = 0;

export function say(text: string, tone: Tone = "info", seconds = tone === "bad" ? 10 : 4): void {
  const id = ++last;
  toasts.push({ id, text, tone });
  setTimeout(() => hush(id), seconds * 1000);
}

export function hush(id: number): void {
  const at = toasts.findIndex((toast) => toast.id === id);
  if (at >= 0) toasts.splice(at, 1);
}
