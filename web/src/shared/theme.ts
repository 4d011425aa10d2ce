import type { Theme } from "./protocol.ts";

/** Put a theme on the page; the stylesheet does the rest. */
export function wear(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

export function preferred(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
