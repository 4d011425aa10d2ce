/** The typed client: `await ask(api.GET("/api/v1/queues"))` returns the data or throws a Failure. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";
import { Failure, OFFLINE, failureOf } from "./failure.ts";

export type Schemas = components["schemas"];

/** Data of the current session; set by `session`. */
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

/** Return the response's data; undefined for 204. Throws Failure. A 401 during a session leads to the sign-in page. */
export async function ask<T>(reply: Reply<T>): Promise<T> {
  let got: Awaited<Reply<T>>;
  try {
    got = await reply;
  } catch (thrown) {
    // fetch rejects with a TypeError if the server cannot be reached, or the page is being left.
    if (thrown instanceof TypeError || thrown instanceof DOMException) throw OFFLINE();
    throw thrown;
  }
  if (got.response.ok) return got.data as T;
  if (got.response.status === 401 && bond.csrf) bond.signedOut();
  throw failureOf(got.response.status, got.error, got.response.headers.get("Retry-After"));
}

export { Failure };
