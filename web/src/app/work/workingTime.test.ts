import { expect, it } from "vitest";
import { Active } from "./workingTime.ts";

function at() {
  const world = { now: 0, seen: true };
  const active = new Active(
    () => world.now,
    () => world.seen,
  );
  const pass = (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      world.now += 1000;
      active.tick();
    }
  };
  return { world, active, pass };
}

it("counts a minute beyond the last thing done, and no more", () => {
  const { active, pass } = at();
  pass(300);
  expect(active.pending).toBe(60);
  active.touch();
  pass(10);
  expect(active.pending).toBe(70);
});
it("counts nothing while the page is hidden", () => {
  const { world, active, pass } = at();
  world.seen = false;
  pass(20);
  expect(active.pending).toBe(0);
});
it("counts no sleep", () => {
  const { world, active } = at();
  world.now += 3_600_000;
  active.touch();
  expect(active.pending).toBe(0);
});
it("tells each second once", () => {
  const { active, pass } = at();
  pass(10);
  const told = active.take();
  expect([told, active.pending]).toEqual([10, 0]);
  active.back(told);
  pass(5);
  expect(active.take()).toBe(15);
});
