"""Load flow of a radial feeder by backward and forward sweeps."""

import csv
import json
import math
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
lines = list(csv.DictReader((inputs / "lines.csv").open()))
loads = {row["node"]: row for row in csv.DictReader((inputs / "loads.csv").open())}
source = json.loads((inputs / "source.json").read_text())
above = {row["to"]: row for row in lines}
order, queue = [], [source["node"]]
while queue:
    node = queue.pop(0)
    order.append(node)
    queue += [row["to"] for row in lines if row["from"] == node]
kv = source["kv"] if "phase-to-phase" in slips else source["kv"] / math.sqrt(3)
power = {}
for node in order:
    kw = float(loads[node]["kw"]) if node in loads else 0.0
    factor = float(loads[node]["power_factor"]) if node in loads else 1.0
    kvar = 0.0 if "no-reactive" in slips else kw * math.tan(math.acos(factor))
    power[node] = complex(kw, kvar) / (1 if "phase-to-phase" in slips else 3)
volt = dict.fromkeys(order, complex(kv))
ohms = {
    node: complex(float(row["r_ohm_km"]), float(row["x_ohm_km"])) * float(row["length_km"])
    for node, row in above.items()
}
for _ in range(1 if "one-sweep" in slips else 100):
    amps = {node: (power[node] / volt[node]).conjugate() for node in order}
    for node in reversed(order[1:]):
        amps[above[node]["from"]] += amps[node]
    for node in order[1:]:
        volt[node] = volt[above[node]["from"]] - ohms[node] * amps[node] / 1000
back = 1 if "phase-to-phase" in slips else math.sqrt(3)
with (output / "voltages.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["node", "kv", "drop_pct"])
    for node in sorted(order):
        size = abs(volt[node]) * back
        out.writerow([node, f"{size:.4f}", f"{100 * (1 - size / source['kv']):.3f}"])
losses = 3 * sum(abs(amps[node]) ** 2 * ohms[node].real for node in order[1:]) / 1000
lowest = min(order, key=lambda node: abs(volt[node]))
limit = source["limit_pct"]
below = sorted(node for node in order if 100 * (1 - abs(volt[node]) * back / source["kv"]) > limit)
(output / "summary.json").write_text(
    json.dumps({"losses_kw": round(losses, 3), "lowest_node": lowest, "nodes_beyond_limit": len(below)})
)
