/** Codes that a terminal receives for keys other than text. */
const NAMED: Readonly<Record<string, string>> = {
  Enter: "\r",
  Backspace: "\x7f",
  Tab: "\t",
  Escape: "\x1b",
  Delete: "\x1b[3~",
  Insert: "\x1b[2~",
  PageUp: "\x1b[5~",
  PageDown: "\x1b[6~",
  F1: "\x1bOP",
  F2: "\x1bOQ",
  F3: "\x1bOR",
  F4: "\x1bOS",
  F5: "\x1b[15~",
  F6: "\x1b[17~",
  F7: "\x1b[18~",
  F8: "\x1b[19~",
  F9: "\x1b[20~",
  F10: "\x1b[21~",
};
const ARROWS: Readonly<Record<string, string>> = {
  ArrowUp: "A",
  ArrowDown: "B",
  ArrowRight: "C",
  ArrowLeft: "D",
  Home: "H",
  End: "F",
};

export interface Press {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

/** Return the characters for a key; "" for keys left to the browser, such as text, which arrives as input.
 * `application`: the program uses application cursor keys. Ctrl+Shift is left to the browser (copy, paste), and so
 * is Shift+Tab, which leaves the terminal. */
export function charactersOf(press: Press, application: boolean): string {
  if (press.metaKey || (press.ctrlKey && press.shiftKey)) return "";
  const arrow = ARROWS[press.key];
  if (arrow) return press.ctrlKey ? `\x1b[1;5${arrow}` : `${application ? "\x1bO" : "\x1b["}${arrow}`;
  if (press.key === "Tab" && press.shiftKey) return "";
  const named = NAMED[press.key];
  if (named) return press.altKey ? `\x1b${named}` : named;
  if (press.key.length !== 1) return "";
  if (press.ctrlKey && !press.altKey) {
    const code = press.key.toUpperCase().charCodeAt(0);
    if (press.key === " ") return "\0";
    return code >= 64 && code < 96 ? String.fromCharCode(code - 64) : "";
  }
  return press.altKey && !press.ctrlKey ? `\x1b${press.key}` : "";
}
