"""A course for a picking robot: breadth-first search between the next shelves and the dock."""

import json
import sys
from collections import deque
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
grid = (inputs / "floor.txt").read_text().splitlines()
job = json.loads((inputs / "orders.json").read_text())
STEPS = {"N": (-1, 0), "S": (1, 0), "E": (0, 1), "W": (0, -1)}
free = {
    (r, c) for r, line in enumerate(grid) for c, mark in enumerate(line) if mark != "#" or "through-shelves" in slips
}
dock = tuple(job["dock"])


def way(start, goals):
    seen, queue = {start: ""}, deque([start])
    while queue:
        at = queue.popleft()
        if at in goals:
            return at, seen[at]
        for name, (dr, dc) in STEPS.items():
            to = at[0] + dr, at[1] + dc
            if to in free and to not in seen:
                seen[to] = seen[at] + name
                queue.append(to)
    raise ValueError("no way")


actions, at = [], dock
orders = job["orders"][:-1] if "stops-early" in slips else job["orders"]
for order in orders:
    waiting = dict.fromkeys(order["items"])
    while waiting:
        held = 0
        while waiting and held < (99 if "ignores-limit" in slips else job["capacity"]):
            places = {tuple(job["shelves"][item]): item for item in reversed(list(waiting))}
            at, steps = way(at, places)
            actions += [*steps, f"pick {places[at]}"]
            del waiting[places[at]]
            held += 1
            if "one-at-a-time" in slips:
                break
        at, steps = way(at, {dock})
        actions += [*steps, "drop"]
(output / "course.json").write_text(json.dumps(actions))
