/** Moves the keyboard focus on an item's screen. */
import { tick } from "svelte";
import { desk } from "./layout.svelte.ts";
import type { Pane } from "./pane.svelte.ts";

const REGIONS = ["[data-toolbar] button", "[data-brief]", "[data-tree]", "iframe[data-pane]", "[data-questions]"];
const WITHIN = "[data-toolbar], [data-brief], [data-tree], [data-questions], section[aria-label='Questions']";

export class Places {
  readonly #box: () => HTMLElement | undefined;

  constructor(box: () => HTMLElement | undefined) {
    this.#box = box;
  }

  find(selector: string): HTMLElement | undefined {
    return this.#box()?.querySelector<HTMLElement>(selector) ?? undefined;
  }

  /** Focus a part of a pane. */
  to(attribute: "data-tree" | "data-filter" | "data-pane", pane: Pane | undefined): void {
    if (pane) this.find(`[${attribute}="${CSS.escape(pane.label)}"]`)?.focus();
  }

  /** Show the questions and focus a field. */
  async write(selector: string): Promise<void> {
    desk.questionsShown = true;
    await tick();
    const field = this.find(selector);
    field?.focus();
    field?.scrollIntoView({ block: "nearest" });
  }

  /** Next part of the screen. */
  next(): void {
    const here = document.activeElement;
    const shown = REGIONS.map((selector) =>
      [...(this.#box()?.querySelectorAll<HTMLElement>(selector) ?? [])].find((found) =>
        found.checkVisibility({ visibilityProperty: true }),
      ),
    ).filter((found) => found !== undefined);
    const at = shown.findIndex((found) => found === here || found.contains(here) || sameRegion(found, here));
    shown[(at + 1) % shown.length]?.focus();
  }
}

function sameRegion(a: Element, b: Element | null): boolean {
  const region = a.closest(WITHIN);
  return region !== null && region === b?.closest(WITHIN);
}
