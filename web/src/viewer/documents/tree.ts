/** An archive's content as a tree. */

export interface Member {
  /** Path as quoted by the server. */
  path: string;
  kind: string;
  size: number;
  note: string;
  /** Whether it was unpacked, so that it can be opened. */
  open: boolean;
}

export interface Node {
  name: string;
  path: string;
  member: Member | undefined;
  children: Node[];
  /** Total size of the files below. */
  size: number;
}

export function grow(members: readonly Member[]): Node {
  const root: Node = { name: "", path: "", member: undefined, children: [], size: 0 };
  const folders = new Map<string, Node>([["", root]]);
  const folder = (path: string): Node => {
    const known = folders.get(path);
    if (known) return known;
    const cut = path.lastIndexOf("/");
    const node: Node = { name: path.slice(cut + 1), path, member: undefined, children: [], size: 0 };
    folders.set(path, node);
    folder(cut < 0 ? "" : path.slice(0, cut)).children.push(node);
    return node;
  };
  for (const member of members) {
    const path = member.path.replace(/^(\.?\/)+|\/+$/g, "");
    if (!path) continue;
    if (member.kind === "folder") {
      folder(path).member = member;
      continue;
    }
    const cut = path.lastIndexOf("/");
    const up = folder(cut < 0 ? "" : path.slice(0, cut));
    up.children.push({ name: path.slice(cut + 1), path, member, children: [], size: member.size });
  }
  settle(root);
  return root;
}

const names = new Intl.Collator("en", { numeric: true });

/** Folders first, then by name; sizes add up. No recursion: hostile archives nest deeply. */
function settle(root: Node): void {
  const order: Node[] = [root];
  for (let n = 0; n < order.length; n++) order.push(...(order[n] as Node).children.filter(isFolder));
  for (const node of order.reverse()) {
    node.children.sort((a, b) => Number(isFolder(b)) - Number(isFolder(a)) || names.compare(a.name, b.name));
    node.size = node.children.reduce((sum, child) => sum + child.size, 0);
  }
}

export function isFolder(node: Node): boolean {
  return node.member === undefined || node.member.kind === "folder";
}

export interface Line {
  node: Node;
  depth: number;
}

/** Return the lines that are visible if these folders are open. */
export function unfold(root: Node, open: ReadonlySet<string>): Line[] {
  const out: Line[] = [];
  const stack: Line[] = [...root.children].reverse().map((node) => ({ node, depth: 0 }));
  while (stack.length) {
    const line = stack.pop() as Line;
    out.push(line);
    if (!isFolder(line.node) || !open.has(line.node.path)) continue;
    for (let n = line.node.children.length - 1; n >= 0; n--) {
      stack.push({ node: line.node.children[n] as Node, depth: line.depth + 1 });
    }
  }
  return out;
}
