import type { Theme } from "./protocol.ts";

/** Apply a theme to the page. */
export function wear(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

export function preferred(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
