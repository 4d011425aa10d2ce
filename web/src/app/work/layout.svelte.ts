/** Layout of the work screen; remembered in this browser, the same for all items. */
const KEY = "ws.desk";

export interface Sizes {
  brief: number;
  questions: number;
  /** Size of the file list above or beside a viewer. */
  files: number;
  briefShown: boolean;
  questionsShown: boolean;
  sync: boolean;
  /** Relative widths by pane; the sum is arbitrary. */
  shares: Record<string, number>;
}

export const LIMITS = { brief: [160, 700], questions: [220, 640], files: [60, 520] } as const;
const FIRST: Sizes = {
  brief: 270,
  questions: 310,
  files: 150,
  briefShown: true,
  questionsShown: true,
  sync: false,
  shares: {},
};

function read(): Sizes {
  let kept: Partial<Sizes> = {};
  try {
    kept = (JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {}) as Partial<Sizes>;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  const found = { ...FIRST };
  for (const name of Object.keys(FIRST) as (keyof Sizes)[]) {
    if (kept[name] !== null && typeof kept[name] === typeof FIRST[name]) Object.assign(found, { [name]: kept[name] });
  }
  for (const name of ["brief", "questions", "files"] as const) found[name] = within(name, found[name]);
  const shares = Object.entries(found.shares).filter(([, share]) => typeof share === "number" && share > 0);
  found.shares = Object.fromEntries(shares);
  return found;
}

export function within(name: keyof typeof LIMITS, size: number): number {
  const [least, most] = LIMITS[name];
  return Math.round(Math.min(most, Math.max(least, size)));
}

export const desk: Sizes = $state(read());

/** A narrow window shows one pane, with the brief over it on request; this is not remembered. */
const narrow = matchMedia("(max-width: 999px)");
const view = $state({ narrow: narrow.matches, brief: false });
narrow.addEventListener("change", () => (view.narrow = narrow.matches));

export const narrowed = (): boolean => view.narrow;
export const briefShown = (): boolean => (view.narrow ? view.brief : desk.briefShown);

export function toggleBrief(): void {
  if (view.narrow) view.brief = !view.brief;
  else desk.briefShown = !desk.briefShown;
}

export function remember(): void {
  localStorage.setItem(KEY, JSON.stringify(desk));
}
