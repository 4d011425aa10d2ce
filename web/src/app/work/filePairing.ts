/** Pairing of files between two panes: by path, else by name. */
import { nameOf } from "./tree.ts";

const stem = (path: string): string => {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
};
const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

/** The folder that contains everything, with its slash, or "". */
export function commonFolder(paths: readonly string[]): string {
  const first = paths[0];
  if (first === undefined) return "";
  let folder = first.slice(0, first.lastIndexOf("/") + 1);
  for (const path of paths) {
    while (folder && !path.startsWith(folder)) folder = folder.slice(0, folder.slice(0, -1).lastIndexOf("/") + 1);
  }
  return folder;
}

/** Map paths of a to paths of b. The best matches are paired first; a name that occurs twice on a side is not paired. */
export function pairsOf(a: readonly string[], b: readonly string[]): Map<string, string> {
  const [top, bottom] = [commonFolder(a), commonFolder(b)];
  const found = new Map<string, string>();
  const taken = new Set<string>();
  const rounds: ((path: string, base: string) => string)[] = [
    (path) => path,
    (path, base) => path.slice(base.length).toLowerCase(),
    (path) => nameOf(path).toLowerCase(),
    (path) => letters(nameOf(path)),
    (path) => letters(stem(path)),
  ];
  for (const key of rounds) {
    const left = unique(a.filter((path) => !found.has(path)), (path) => key(path, top));
    const right = unique(b.filter((path) => !taken.has(path)), (path) => key(path, bottom));
    for (const [name, path] of left) {
      const other = right.get(name);
      if (!name || other === undefined) continue;
      found.set(path, other);
      taken.add(other);
    }
  }
  const [only, alone] = [a[0], b[0]];
  if (a.length === 1 && b.length === 1 && only !== undefined && alone !== undefined) found.set(only, alone);
  return found;
}

function unique(paths: readonly string[], key: (path: string) => string): Map<string, string> {
  const found = new Map<string, string>();
  const twice = new Set<string>();
  for (const path of paths) {
    const name = key(path);
    if (found.has(name)) twice.add(name);
    found.set(name, path);
  }
  for (const name of twice) found.delete(name);
  return found;
}
