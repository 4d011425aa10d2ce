/** The typed client: `await ask(api.GET("/api/v1/queues"))` gives the data or throws a Failure. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";
import { Failure, OFFLINE, failureOf } from "./failure.ts";

export type Schemas = components["schemas"];

/** What belongs to the session that is open; set by `session`. */
export const bond = { csrf: "", signedOut: () => {} };

const guard: Middleware = {
  onRequest({ request }) {
    if (request.method !== "GET" && bond.csrf) request.headers.set("X-CSRF-Token", bond.csrf);
    return request;
  },
};

export const api = createClient<paths>({ baseUrl: "", credentials: "same-origin", cache: "no-store" });
api.use(guard);

type Reply<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/** The answer's data; undefined for 204. Throws Failure. A 401 of an open session leads to the sign-in page. */
export async function ask<T>(reply: Reply<T>): Promise<T> {
  let got: Awaited<Reply<T>>;
  try {
    got = await reply;
  } catch (thrown) {
    // fetch rejects with a TypeError when nothing was heard, and when a page is being left.
    if (thrown instanceof TypeError || thrown instanceof DOMException) throw OFFLINE();
    throw thrown;
  }
  if (got.response.ok) return got.data as T;
  if (got.response.status === 401 && bond.csrf) bond.signedOut();
  throw failureOf(got.response.status, got.error, got.response.headers.get("Retry-After"));
}

export { Failure };
