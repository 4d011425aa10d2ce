/** The theme: light, dark or the system's; remembered in this browser. */
import { preferred, wear } from "@shared/theme.ts";
import type { Theme } from "@shared/protocol.ts";

export type Choice = Theme | "system";
const KEY = "ws.theme";

function stored(): Choice {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export const theme: { choice: Choice; now: Theme } = $state({ choice: "system", now: "light" });

export function choose(choice: Choice): void {
  if (choice === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, choice);
  theme.choice = choice;
  theme.now = choice === "system" ? preferred() : choice;
  wear(theme.now);
}

/** Apply the remembered theme, and follow changes of the system and other windows. */
export function begin(): void {
  choose(stored());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => choose(theme.choice));
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) choose(stored());
  });
}
