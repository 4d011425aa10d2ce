/** A failed request. `status` 0: no response arrived. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    readonly what: string,
    readonly next = "",
    readonly faults: Readonly<Record<string, string>> = {},
    /** Seconds to wait, if the server named them. */
    readonly after = 0,
  ) {
    super(what);
  }

  get offline(): boolean {
    return this.status === 0;
  }

  /** Whether the same request may succeed later: the connection or the server failed, not the request. */
  get passing(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

export const OFFLINE = () => new Failure(0, "Offline", "The server cannot be reached.", "Check your connection.");

/** Build a Failure from the body of a response of status 400 or above. */
export function failureOf(status: number, body: unknown, after: string | null = null): Failure {
  const error = (body as { error?: Record<string, unknown> } | undefined)?.error;
  if (!error || typeof error.what !== "string") {
    return new Failure(status, "Failed", `The server answered with ${status}.`, "Try again.");
  }
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const faults = typeof error.faults === "object" && error.faults ? (error.faults as Record<string, string>) : {};
  return new Failure(status, text(error.kind), error.what, text(error.next), faults, Number(after ?? 0) || 0);
}

/** Describe anything thrown in one or two sentences. */
export function sentence(thrown: unknown): string {
  if (!(thrown instanceof Failure)) return "Something went wrong on this page. Load it again.";
  const whole = (text: string) => {
    const trimmed = text.trim();
    if (!trimmed) return "";
    return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + (/[.!?]$/.test(trimmed) ? "" : ".");
  };
  return [whole(thrown.what), whole(thrown.next)].filter(Boolean).join(" ");
}
