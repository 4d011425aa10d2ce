/** Record of rounds whose instructions were shown in this browser; notes open by themselves only the first time. */
const KEY = "ws.notes";
const MOST = 200;

type Shelf = Pick<Storage, "getItem" | "setItem">;

function read(shelf: Shelf): string[] {
  try {
    const kept: unknown = JSON.parse(shelf.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return [];
    throw thrown;
  }
}

/** Return whether the instructions are new to the person in this round, and remember that they were shown.
 * `met`: account, round and the version's digest. */
export function firstMet(shelf: Shelf, ...met: [account: string, round: string, instructions: string]): boolean {
  const key = met.join(" ");
  const kept = read(shelf);
  if (kept.includes(key)) return false;
  try {
    shelf.setItem(KEY, JSON.stringify([...kept, key].slice(-MOST)));
  } catch (thrown) {
    // If the storage is full or disabled, the notes open again after the page is reloaded.
    if (!(thrown instanceof DOMException)) throw thrown;
  }
  return true;
}
