/** Whose first item of a round was opened in this browser: notes open by themselves only there. */
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

/** Whether this version of the instructions is met for the first time in a round; from now on it is not.
 * `met`: account, round and the version's digest. */
export function firstMet(shelf: Shelf, ...met: [account: string, round: string, instructions: string]): boolean {
  const key = met.join(" ");
  const kept = read(shelf);
  if (kept.includes(key)) return false;
  try {
    shelf.setItem(KEY, JSON.stringify([...kept, key].slice(-MOST)));
  } catch (thrown) {
    // A storage that is full or switched off forgets; the notes open once more after the page is loaded again.
    if (!(thrown instanceof DOMException)) throw thrown;
  }
  return true;
}
