/** The actions of keys and buttons. Each returns whether it did anything; other keys are left to the browser. */
import { tick } from "svelte";
import { say } from "../ui/toasts.svelte.ts";
import type { Bench } from "./openItem.svelte.ts";
import { desk, remember, toggleBrief } from "./layout.svelte.ts";
import type { Action, Meaning } from "./keys.ts";
import type { Pane } from "./pane.svelte.ts";
import { Places } from "./keyboardFocus.ts";

export interface Asking {
  help: boolean;
  skip: boolean;
  flag: boolean;
  instructions: boolean;
  notes: boolean;
}
type Act = (meaning: NonNullable<Meaning>, from?: Pane) => boolean;
type Does<A extends Action = Action> = Record<A, (from: Pane | undefined) => unknown>;
type Panes = "flip" | "flipAny" | "layout" | "nextPane" | "sync" | "brief" | "questions" | "region";
type Files = "files" | "filter" | "nextFile" | "previousFile" | "partner";
type Answers = "yes" | "no" | "why" | "flaw" | "nextCriterion" | "previousCriterion" | "feedback";
/** Actions on the layout, which always do something. */
const LASTING = new Set<Action>(["sync", "brief", "questions"]);

type Box = () => HTMLElement | undefined;

export function acts(bench: Bench, box: Box, asking: Asking, submit: () => Promise<void>): Act {
  const places = new Places(box);
  const does: Does = {
    ...panesDo(bench, places),
    ...filesDo(bench, places),
    ...answersDo(bench, places),
    submit: () => void submit(),
    skip: () => (asking.skip = true),
    flag: () => (asking.flag = true),
    instructions: () => (asking.instructions = true),
    notes: () => (bench.item.notes_html ? (asking.notes = true) : false),
    help: () => (asking.help = true),
  };
  return (meaning, from) => {
    if ("answer" in meaning) return number(bench, meaning.answer);
    if ("pane" in meaning) {
      const pane = bench.stand.panes[meaning.pane];
      if (pane) void bench.stand.toggle(pane);
      return pane !== undefined;
    }
    const done = does[meaning.action](from);
    if (!LASTING.has(meaning.action)) return done !== false;
    remember();
    return true;
  };
}

function panesDo(bench: Bench, places: Places): Does<Panes> {
  const { stand } = bench;
  function flip(from: Pane | undefined): boolean {
    if (stand.sides.length < 2) return false;
    if (!stand.flipping) stand.setLayout("flip");
    stand.flip();
    // From a viewer the focus moves to a viewer, from a file list to a file list.
    void tick().then(() => places.to(from ? "data-pane" : "data-tree", stand.focus));
    return true;
  }
  return {
    flip,
    flipAny: flip,
    layout: () => stand.setLayout(stand.layout === "flip" ? "side" : "flip"),
    nextPane: () => {
      if (stand.flipping) stand.flip();
      else stand.nextPane();
      places.to("data-tree", stand.focus);
    },
    sync: () => (desk.sync = !desk.sync),
    brief: toggleBrief,
    questions: () => (desk.questionsShown = !desk.questionsShown),
    region: () => places.next(),
  };
}

function filesDo(bench: Bench, places: Places): Does<Files> {
  const { stand } = bench;
  function step(by: 1 | -1): void {
    const path = stand.focus?.next(by);
    if (stand.focus && path !== undefined) stand.open(stand.focus, path);
  }
  return {
    files: () => places.to("data-tree", stand.focus),
    filter: () => places.to("data-filter", stand.focus),
    nextFile: () => step(1),
    previousFile: () => step(-1),
    partner: () => {
      if (stand.match() === 0) say("No other visible pane has a file with this name.");
    },
  };
}

function answersDo(bench: Bench, places: Places): Does<Answers> {
  const { asked } = bench;
  function yesNo(value: boolean): boolean {
    const ask = asked.asks.find((one) => one.type === "yes_no");
    if (ask) bench.answer(ask.name, value);
    return ask !== undefined;
  }
  return {
    yes: () => yesNo(true),
    no: () => yesNo(false),
    why: () => void places.write(`[data-ask="${asked.reason}"] textarea, [data-ask="note"] textarea`),
    flaw: () => (asked.ask("critical_flaw") ? void places.write('[data-ask="critical_flaw"] textarea') : false),
    nextCriterion: () => criterion(bench, 1),
    previousCriterion: () => criterion(bench, -1),
    feedback: () => (asked.leaves.length ? void places.write(`[data-criterion-at="${bench.at}"] textarea`) : false),
  };
}

function criterion(bench: Bench, by: 1 | -1): boolean {
  const { leaves } = bench.asked;
  if (leaves.length === 0) return false;
  bench.at = Math.max(0, Math.min(leaves.length - 1, bench.at + by));
  return true;
}

/** Choose the answer with a number. */
function number(bench: Bench, at: number): boolean {
  const entry = bench.asked.numbered[at];
  if (!entry) return false;
  const ask = bench.asked.ask(entry.ask);
  if (ask?.type === "criteria") {
    const leaf = bench.asked.leaves[bench.at];
    if (leaf) bench.mark(leaf.criterion.id, "marks", entry.value);
    if (leaf && entry.value === "pass") criterion(bench, 1);
  } else if (ask?.type === "tags") {
    const given = Array.isArray(bench.payload[entry.ask]) ? (bench.payload[entry.ask] as string[]) : [];
    const has = given.includes(entry.value);
    bench.answer(entry.ask, has ? given.filter((tag) => tag !== entry.value) : [...given, entry.value]);
  } else bench.answer(entry.ask, entry.value);
  return true;
}
