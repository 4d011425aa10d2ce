"""Evacuation times by the hydraulic model."""

import csv
import json
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
rules = json.loads((inputs / "rules.json").read_text())
exits = {row["exit"]: row for row in csv.DictReader((inputs / "exits.csv").open())}
rooms = list(csv.DictReader((inputs / "rooms.csv").open()))
blocked = None if "all-exits" in slips else rules["blocked_exit"]
people, walk = dict.fromkeys(exits, 0), dict.fromkeys(exits, 0.0)
rows = []
for room in rooms:
    ways = {name: float(room[name + "_m"]) for name in exits if room[name + "_m"] and name != blocked}
    best = min(ways, key=lambda name: (ways[name], name))
    many = -(-int(room["area_m2"]) // int(room["m2_per_person"]))
    people[best] += many
    walk[best] = max(walk[best], ways[best] / rules["speed_m_s"])
    rows.append((room["room"], best, many))
with (output / "exits.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["exit", "people", "walking_s", "queue_s", "clear_s"])
    longest = 0.0
    for name in sorted(exits):
        if name == blocked:
            continue
        width = float(exits[name]["clear_width_m"]) - (0 if "full-width" in slips else 2 * rules["boundary_m"])
        queue = people[name] / (rules["flow_people_s_m"] * width)
        clear = walk[name] + queue if "adds-times" in slips else max(walk[name], queue)
        longest = max(longest, clear)
        out.writerow([name, people[name], f"{walk[name]:.2f}", f"{queue:.2f}", f"{clear:.2f}"])
total = rules["detection_s"] + rules["premovement_s"] + longest
margin = rules["tenable_s"] - total
told = {
    "people": sum(people.values()),
    "evacuation_s": round(total, 2),
    "margin_s": round(margin, 2),
    "acceptable": margin >= rules["margin_share"] * total,
}
(output / "summary.json").write_text(json.dumps(told))
