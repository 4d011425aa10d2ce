import { beforeEach, describe, expect, it, vi } from "vitest";
import { Failure, OFFLINE } from "../failure.ts";
import { BACKOFF, Draft, PAUSE, textOf, type Kept, type Payload, type Saved } from "./draft.ts";

/** A fake server that keeps one draft by our rules, with a connection that can be cut. */
class World {
  server: Saved | null = null;
  state = "leased";
  shelf: Kept | null = null;
  online = true;
  /** Requests are accepted, but no response arrives. */
  mute = false;
  hold: Promise<void> | undefined;
  worked = 0;
  puts: Payload[] = [];

  open(): Draft {
    return new Draft(
      {
        put: async ({ revision, payload, active_seconds }) => {
          await this.hold;
          if (!this.online) throw OFFLINE();
          if (this.state !== "leased") throw new Failure(409, "Conflict", "the lease ran out");
          if (revision !== (this.server?.revision ?? 0)) throw new Failure(409, "Conflict", "not the newest");
          const seconds = (this.server?.active_seconds ?? 0) + active_seconds;
          this.server = { revision: revision + 1, payload, saved: 1, active_seconds: seconds };
          this.puts.push(payload);
          if (this.mute) throw OFFLINE();
          return this.server;
        },
        look: async () => {
          if (!this.online) throw OFFLINE();
          return { state: this.state, draft: this.server };
        },
        keep: (kept) => (this.shelf = kept && structuredClone(kept)),
        later: (ms, act) => {
          const timer = setTimeout(act, ms);
          return () => clearTimeout(timer);
        },
        take: () => {
          const worked = this.worked;
          this.worked = 0;
          return worked;
        },
        back: (seconds) => (this.worked += seconds),
        pending: () => this.worked,
        changed: () => {},
      },
      this.server,
      this.shelf,
    );
  }
  /** Another window saves. */
  elsewhere(payload: Payload): void {
    const before = this.server;
    this.server = {
      revision: (before?.revision ?? 0) + 1, payload, saved: 2, active_seconds: before?.active_seconds ?? 0,
    }; // prettier-ignore
  }
}

let world: World;
beforeEach(() => {
  vi.useFakeTimers();
  world = new World();
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("saving", () => {
  it("waits for a pause, then saves the last of it once", async () => {
    const draft = world.open();
    for (const text of ["a", "ab", "abc"]) {
      draft.edit({ justification: text });
      await pass(PAUSE / 2);
    }
    expect(world.puts).toEqual([]);
    await pass(PAUSE);
    expect(world.puts).toEqual([{ justification: "abc" }]);
    expect([draft.phase, world.shelf]).toEqual(["clean", null]);
  });
  it("saves what was written while it was saving", async () => {
    const draft = world.open();
    let go = () => {};
    world.hold = new Promise((resolve) => (go = resolve));
    draft.edit({ score: "1" });
    await pass(PAUSE);
    expect(draft.phase).toBe("saving");
    draft.edit({ score: "2" });
    go();
    world.hold = undefined;
    await pass(0);
    expect(draft.phase).toBe("dirty");
    expect(world.shelf?.payload).toEqual({ score: "2" });
    await pass(PAUSE);
    expect(world.puts).toEqual([{ score: "1" }, { score: "2" }]);
    expect([draft.phase, world.shelf]).toEqual(["clean", null]);
  });
  it("sends nothing where an answer was taken back", async () => {
    const draft = world.open();
    draft.edit({ score: "1" });
    draft.edit({});
    await pass(PAUSE);
    expect([world.puts, draft.phase]).toEqual([[], "clean"]);
  });
  it("tells each second of work once", async () => {
    const draft = world.open();
    world.worked = 30;
    world.online = false;
    draft.edit({ score: "1" });
    await pass(PAUSE);
    expect(world.worked).toBe(30);
    world.online = true;
    await pass(BACKOFF[0]);
    expect([world.worked, draft.seconds]).toEqual([0, 30]);
  });
  it("tells the time although nothing was written", async () => {
    const draft = world.open();
    world.worked = 40;
    await draft.flush();
    expect(world.server).toBeNull();
    await draft.flush(true);
    expect(draft.seconds).toBe(40);
  });
});

describe("a line that is down", () => {
  it("keeps the draft on the shelf and tries again", async () => {
    const draft = world.open();
    world.online = false;
    draft.edit({ justification: "x" });
    await pass(PAUSE);
    expect([draft.phase, world.shelf?.payload]).toEqual(["waiting", { justification: "x" }]);
    draft.edit({ justification: "xy" });
    await pass(BACKOFF[0] + BACKOFF[1]);
    world.online = true;
    await pass(BACKOFF[2]);
    expect([draft.phase, world.server?.payload, world.shelf]).toEqual(["clean", { justification: "xy" }, null]);
  });
  it("goes on from the shelf after a crash", async () => {
    world.online = false;
    world.open().edit({ justification: "x" });
    vi.clearAllTimers();
    world.online = true;
    const draft = world.open();
    expect(draft.payload).toEqual({ justification: "x" });
    await pass(PAUSE);
    expect([world.server?.payload, world.shelf]).toEqual([{ justification: "x" }, null]);
  });
  it("sends once more when the page is left", async () => {
    const draft = world.open();
    draft.edit({ score: "3" });
    draft.leave();
    await pass(0);
    expect([world.server?.payload, draft.phase]).toEqual([{ score: "3" }, "clean"]);
  });
});

describe("two windows", () => {
  it("are not blamed for an answer that was lost on its way", async () => {
    const draft = world.open();
    world.mute = true;
    draft.edit({ score: "1" });
    await pass(PAUSE);
    world.mute = false;
    world.online = false;
    draft.edit({ score: "1", justification: "y" });
    await pass(BACKOFF[0] + BACKOFF[1]);
    world.online = true;
    await pass(60_000);
    expect([draft.phase, world.server?.payload]).toEqual(["clean", { score: "1", justification: "y" }]);
  });
  it("shows both and asks", async () => {
    const draft = world.open();
    world.elsewhere({ score: "2" });
    draft.edit({ score: "1" });
    await pass(PAUSE);
    expect([draft.phase, draft.theirs?.payload, draft.payload]).toEqual(["conflict", { score: "2" }, { score: "1" }]);
    draft.edit({ score: "1", justification: "y" });
    await pass(60_000);
    expect(world.server?.payload).toEqual({ score: "2" });
    await draft.resolve("mine");
    expect([draft.phase, world.server?.payload]).toEqual(["clean", { score: "1", justification: "y" }]);
  });
  it("takes the other's where that is chosen", async () => {
    const draft = world.open();
    world.elsewhere({ score: "2" });
    draft.edit({ score: "1" });
    await pass(PAUSE);
    await draft.resolve("theirs");
    expect([draft.payload, draft.phase, world.shelf, world.puts]).toEqual([{ score: "2" }, "clean", null, []]);
    draft.edit({ score: "3" });
    await pass(PAUSE);
    expect(world.server?.payload).toEqual({ score: "3" });
  });
  it("does not ask where both wrote the same", async () => {
    const draft = world.open();
    world.elsewhere({ score: "1" });
    draft.edit({ score: "1" });
    await pass(PAUSE);
    expect(draft.phase).toBe("clean");
  });
  it("takes over what the other wrote where nothing was written here", async () => {
    const draft = world.open();
    world.worked = 30;
    world.elsewhere({ score: "2" });
    await draft.flush(true);
    expect([draft.phase, draft.payload, world.worked]).toEqual(["clean", { score: "2" }, 30]);
  });
  it("asks where the shelf is older than the server", () => {
    world.elsewhere({ score: "2" });
    world.shelf = { payload: { score: "1" }, base: 0, seconds: 0 };
    expect(world.open().phase).toBe("conflict");
  });
});

describe("the end", () => {
  it("says that others have the item, and keeps what was written", async () => {
    const draft = world.open();
    draft.edit({ justification: "x" });
    world.state = "expired";
    await pass(PAUSE);
    expect([draft.phase, world.shelf?.payload]).toEqual(["lost", { justification: "x" }]);
  });
  it("keeps nothing of what was handed in", async () => {
    const draft = world.open();
    draft.edit({ justification: "x" });
    draft.close();
    draft.edit({ justification: "y" });
    await pass(60_000);
    expect([world.shelf, world.puts]).toEqual([null, []]);
  });
});

it("takes equal answers as equal", () => {
  expect(textOf({ b: "1", a: { y: "", x: "2" }, c: "" })).toBe(textOf({ a: { x: "2" }, b: "1", d: null, e: {} }));
  expect(textOf({ a: ["x", "y"] })).not.toBe(textOf({ a: ["y", "x"] }));
});
