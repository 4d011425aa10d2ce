/** Drafts in this browser's storage that the server has not confirmed, by person and item. */
import type { Kept } from "./draft.ts";

const PREFIX = "ws.draft.";
const keyOf = (account: string, item: string): string => `${PREFIX}${account}.${item}`;

export function readShelf(account: string, item: string): Kept | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(account, item)) ?? "null");
    return sound(kept) ? kept : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

function sound(kept: unknown): kept is Kept {
  const given = kept as Partial<Kept> | null;
  return (
    typeof given === "object" &&
    given !== null &&
    typeof given.payload === "object" &&
    given.payload !== null &&
    typeof given.base === "number" &&
    typeof given.seconds === "number" &&
    given.seconds >= 0
  );
}

/** False if the storage is full or disabled. */
export function writeShelf(account: string, item: string, kept: Kept | null): boolean {
  try {
    if (kept) localStorage.setItem(keyOf(account, item), JSON.stringify(kept));
    else localStorage.removeItem(keyOf(account, item));
    return true;
  } catch (thrown) {
    if (thrown instanceof DOMException) return false;
    throw thrown;
  }
}
