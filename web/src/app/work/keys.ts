/** The table of all keys of the work screen, read by overlay, buttons and key handler. */
import type { Key } from "@shared/protocol.ts";

export interface Binding {
  key: string;
  label: string;
  group: "Files" | "Panes" | "Answer" | "Rubric" | "Item";
}

export const BINDINGS = {
  flip: { key: "Tab", label: "The same file and place on the other side (flip layout)", group: "Panes" },
  flipAny: { key: "f", label: "The same as Tab, from anywhere", group: "Panes" },
  layout: { key: "l", label: "Side by side, or one pane to flip", group: "Panes" },
  nextPane: { key: "p", label: "Next pane", group: "Panes" },
  sync: { key: "s", label: "Keep panes at the same place", group: "Panes" },
  brief: { key: "b", label: "Show or hide the brief", group: "Panes" },
  questions: { key: "q", label: "Show or hide the questions", group: "Panes" },
  region: { key: "F6", label: "Next part of the screen", group: "Panes" },
  files: { key: "e", label: "To the files of this pane", group: "Files" },
  filter: { key: "/", label: "Filter the files of this pane", group: "Files" },
  nextFile: { key: "]", label: "Next file", group: "Files" },
  previousFile: { key: "[", label: "Previous file", group: "Files" },
  partner: { key: "m", label: "Open the file of the same name in the other panes", group: "Files" },
  yes: { key: "y", label: "Yes", group: "Answer" },
  no: { key: "n", label: "No", group: "Answer" },
  why: { key: "w", label: "To the reason", group: "Answer" },
  flaw: { key: "c", label: "Critical flaw: stop here", group: "Answer" },
  nextCriterion: { key: "j", label: "Next criterion", group: "Rubric" },
  previousCriterion: { key: "k", label: "Previous criterion", group: "Rubric" },
  feedback: { key: "r", label: "To the reason of this criterion", group: "Rubric" },
  submit: { key: "Ctrl+Enter", label: "Hand in", group: "Item" },
  skip: { key: "x", label: "Skip", group: "Item" },
  flag: { key: "g", label: "Flag", group: "Item" },
  instructions: { key: "i", label: "Instructions", group: "Item" },
  notes: { key: "o", label: "Notes on this item", group: "Item" },
  help: { key: "?", label: "All keys", group: "Item" },
} as const satisfies Record<string, Binding>;

export type Action = keyof typeof BINDINGS;
/** Digits choose answers, and with Shift show or hide panes; both depend on the item. */
export const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"] as const;
const upTo = (most: number): string => (most > 1 ? `1 – ${most}` : "1");
const ELSEWHERE: readonly Binding[] = [
  { key: "↑ ↓ ← →", label: "Move, open and close in the files", group: "Files" },
  { key: "Enter", label: "Open the file", group: "Files" },
  { key: "Esc", label: "Leave a text or a list", group: "Item" },
];

/** The facts of a screen that decide which keys work. */
export interface Screen {
  panes: number;
  /** Number of panes that are judged or compared with. */
  sides: number;
  flipping: boolean;
  criteria: number;
  /** Number of answers with a number key. */
  answers: number;
  yesNo: boolean;
  reason: boolean;
  flaw: boolean;
  feedback: boolean;
  notes: boolean;
}

const NEEDS: Partial<Record<Action, (screen: Screen) => boolean>> = {
  flip: (screen) => screen.flipping && screen.sides > 1,
  flipAny: (screen) => screen.sides > 1,
  layout: (screen) => screen.sides > 1,
  nextPane: (screen) => screen.panes > 1,
  sync: (screen) => screen.panes > 1,
  partner: (screen) => screen.panes > 1,
  yes: (screen) => screen.yesNo,
  no: (screen) => screen.yesNo,
  why: (screen) => screen.reason,
  flaw: (screen) => screen.flaw,
  nextCriterion: (screen) => screen.criteria > 1,
  previousCriterion: (screen) => screen.criteria > 1,
  feedback: (screen) => screen.criteria > 0 && screen.feedback,
  notes: (screen) => screen.notes,
};

/** Return the keys that work on a screen. */
export function working(screen: Screen): Binding[] {
  const actions = Object.keys(BINDINGS) as Action[];
  const digits: Binding[] = [];
  if (screen.answers > 0) {
    digits.push({ key: upTo(screen.answers), label: "The answer with this number", group: "Answer" });
  }
  digits.push({ key: `Shift+${upTo(Math.min(5, screen.panes))}`, label: "Show or hide a pane", group: "Panes" });
  const named = actions.filter((action) => NEEDS[action]?.(screen) ?? true).map((action) => BINDINGS[action]);
  return [...named, ...digits, ...ELSEWHERE];
}

export type Press = Omit<Key, "ws" | "type">;

/** Spell a key press as the table does. Letters ignore Shift and Caps Lock; digits with Shift are found by key position. */
export function chord(press: Press): string {
  const ctrl = press.ctrl || press.meta;
  const digit = /^Digit([1-9])$/.exec(press.code)?.[1];
  if (press.alt) return `Alt+${press.key}`;
  if (press.shift && digit && !ctrl) return `Shift+${digit}`;
  if (ctrl) return `Ctrl+${press.key}`;
  if (press.key.length === 1) return press.key.toLowerCase();
  return press.shift ? `Shift+${press.key}` : press.key;
}

const byKey = new Map<string, Action>(
  (Object.entries(BINDINGS) as [Action, Binding][]).map(([action, binding]) => [binding.key, action]),
);

export type Meaning = { action: Action } | { answer: number } | { pane: number } | undefined;

/** Return the action of a key press. `answer` and `pane` count from 0. */
export function meaningOf(press: Press): Meaning {
  const pressed = chord(press);
  const action = byKey.get(pressed);
  if (action) return { action };
  if (/^[1-9]$/.test(pressed)) return { answer: Number(pressed) - 1 };
  const pane = /^Shift\+([1-5])$/.exec(pressed)?.[1];
  return pane ? { pane: Number(pane) - 1 } : undefined;
}
