/** A pane's files as a tree, and its visible rows. Works with ten thousand files. */
export interface Entry {
  path: string;
  kind: string;
  size: number;
  note: string;
}

export interface Node {
  name: string;
  path: string;
  folder: boolean;
  /** Of a folder: the sum over its files. */
  size: number;
  note: string;
  kind: string;
  children: Node[];
}

export interface Row {
  node: Node;
  /** From 1, as `aria-level` counts. */
  level: number;
  /** Position among its siblings, from 1, and their number. */
  position: number;
  siblings: number;
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Decode only the quoted percent sign of a name; other quoted bytes could be harmful. */
export const plainName = (quoted: string): string => quoted.replaceAll("%25", "%");

/** Build the tree: folders first, then by name, numbers by value. */
export function treeOf(entries: readonly Entry[]): Node {
  const root = folderAt("");
  const folders = new Map<string, Node>([["", root]]);
  const ensure = (path: string): Node => {
    const known = folders.get(path);
    if (known) return known;
    const made = folderAt(path);
    folders.set(path, made);
    ensure(parentOf(path)).children.push(made);
    return made;
  };
  for (const entry of entries) {
    if (entry.kind === "folder") {
      ensure(entry.path).note = entry.note;
      continue;
    }
    const { path, size, note, kind } = entry;
    ensure(parentOf(path)).children.push({ name: nameOf(path), path, folder: false, size, note, kind, children: [] });
  }
  finish(root);
  return root;
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
export const depthOf = (path: string): number => path.split("/").length;
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

function folderAt(path: string): Node {
  return { name: nameOf(path), path, folder: true, size: 0, note: "", kind: "folder", children: [] };
}

function finish(node: Node): number {
  if (!node.folder) return node.size;
  node.children.sort((a, b) => Number(b.folder) - Number(a.folder) || collator.compare(a.name, b.name));
  node.size = node.children.reduce((sum, child) => sum + finish(child), 0);
  return node.size;
}

/** All files, in the order of the tree. */
export function filesOf(node: Node): Node[] {
  return node.folder ? node.children.flatMap(filesOf) : [node];
}

/** Folders that are open at first: all of a small tree; of a large one, chains of single folders. */
export function firstOpen(root: Node, most = 300): Set<string> {
  const open = new Set<string>();
  if (filesOf(root).length <= most) {
    const walk = (node: Node): void => {
      if (node.folder) open.add(node.path);
      node.children.forEach(walk);
    };
    walk(root);
    return open;
  }
  for (let node: Node | undefined = root; node?.folder; node = node.children.length === 1 ? node.children[0] : undefined) {
    open.add(node.path);
  }
  return open;
}

/** Whether the path contains every word of the filter, ignoring case. */
export function wanted(filter: string): (path: string) => boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return (path) => {
    const low = path.toLowerCase();
    return words.every((word) => low.includes(word));
  };
}

/** Return the visible rows: contents of open folders; with a filter, matching files and their folders. */
export function rowsOf(root: Node, open: ReadonlySet<string>, filter = ""): Row[] {
  const rows: Row[] = [];
  const fits = filter.trim() ? wanted(filter) : undefined;
  const holds = (node: Node): boolean => (node.folder ? node.children.some(holds) : fits!(node.path));
  const walk = (nodes: readonly Node[], level: number): void => {
    const shown = fits ? nodes.filter(holds) : nodes;
    for (const [at, node] of shown.entries()) {
      rows.push({ node, level, position: at + 1, siblings: shown.length });
      if (node.folder && (fits || open.has(node.path))) walk(node.children, level + 1);
    }
  };
  walk(root.children, 1);
  return rows;
}

export interface Window {
  first: number;
  /** Exclusive. */
  last: number;
}

/** Return which of `total` rows of equal height are drawn, with a few beyond both edges. */
export function windowOf(total: number, top: number, height: number, row: number, beyond = 8): Window {
  const first = Math.max(0, Math.min(total, Math.floor(top / row) - beyond));
  return { first, last: Math.min(total, Math.ceil((top + height) / row) + beyond) };
}

/** `512 B`, `4.2 MB`. */
export function sizeOf(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toPrecision(2)} ${units[unit]}`;
}
