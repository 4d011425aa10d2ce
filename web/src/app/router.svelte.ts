/** The address bar as state. `match` matches paths; links to this origin are followed without loading the page. */
import { tick } from "svelte";

export const route = $state({ path: location.pathname, search: location.search });

function read(): void {
  route.path = location.pathname;
  route.search = location.search;
}

/** Called before a page is left; false keeps the page. Set by the page that is shown. */
export const leaving = { may: async (): Promise<boolean> => true };

export async function go(to: string, options: { replace?: boolean } = {}): Promise<void> {
  if (to === location.pathname + location.search) return;
  if (!(await leaving.may())) return;
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  read();
  await tick();
  scrollTo(0, 0);
  // Focus the heading of a new page, so that screen readers announce it and read on from there.
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
}

/** Match a pattern such as `/items/:id` against a path: return its decoded parts, or undefined. A final `*` takes the rest. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  const found: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    if (part === "*") return { ...found, rest: given.slice(i).join("/") };
    const at = given[i];
    if (at === undefined) return undefined;
    if (part.startsWith(":")) {
      try {
        found[part.slice(1)] = decodeURIComponent(at);
      } catch {
        return undefined;
      }
    } else if (part !== at) return undefined;
  }
  return given.length === wanted.length ? found : undefined;
}

function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.pathname.startsWith("/api/") || link.pathname.startsWith("/assets/")) return;
  if (link.hash && link.pathname === location.pathname) return;
  event.preventDefault();
  void go(link.pathname + link.search);
}

export function listen(): void {
  window.addEventListener("popstate", read);
  document.addEventListener("click", follow);
}
