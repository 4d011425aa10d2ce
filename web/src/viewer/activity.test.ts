import { expect, it } from "vitest";
import { sparsely } from "./activity.ts";

it("tells at once, then at most each five seconds", () => {
  let now = 0;
  let told = 0;
  const note = sparsely(
    () => told++,
    () => now,
  );
  for (; now <= 12_000; now += 100) note();
  expect(told).toBe(3);
});
