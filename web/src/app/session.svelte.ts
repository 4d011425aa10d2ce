/** Who is signed in. */
import { api, ask, bond, type Schemas } from "./api.ts";
import { Failure } from "./failure.ts";
import { leaving } from "./router.svelte.ts";

export type Me = Schemas["Me"];
export type Role = "evaluator" | "expert" | "worker" | "reviewer" | "admin";

interface Session {
  state: "asking" | "in" | "out" | "unreachable";
  me: Me | undefined;
  /** Path to open after signing in. */
  next: string;
}

export const session: Session = $state({ state: "asking", me: undefined, next: "" });

export function signedIn(me: Me): void {
  session.me = me;
  session.state = "in";
  bond.csrf = me.csrf;
}

export function signedOut(next = ""): void {
  session.me = undefined;
  session.state = "out";
  session.next = next;
  bond.csrf = "";
}

bond.signedOut = () => signedOut(location.pathname + location.search);

/** Fetch who is signed in. */
export async function recall(): Promise<void> {
  session.state = session.me ? session.state : "asking";
  try {
    signedIn(await ask(api.GET("/api/v1/me")));
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.status === 401) signedOut(location.pathname + location.search);
    else session.state = "unreachable";
  }
}

export async function signOut(): Promise<void> {
  if (!(await leaving.may())) return;
  await ask(api.DELETE("/api/v1/session"));
  signedOut();
}

/** The start page: rounds for people who only run rounds, queues for all others. */
export function home(): string {
  if (has("worker") && !has("evaluator", "expert", "reviewer", "admin")) return "/places";
  return has("admin") && !has("evaluator", "expert", "reviewer") ? "/admin" : "/queues";
}

export function has(...roles: Role[]): boolean {
  return roles.some((role) => session.me?.account.roles.includes(role) ?? false);
}
