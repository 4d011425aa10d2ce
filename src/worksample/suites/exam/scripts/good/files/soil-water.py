"""A daily soil water balance with irrigation by depletion."""

import csv
import json
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
soil = json.loads((inputs / "field.json").read_text())
taw = 1000 * (soil["field_capacity"] - soil["wilting_point"]) * soil["root_depth_m"]
raw = soil["depletion_fraction"] * taw
ends, depletion, day, rows = soil["stages"], soil["start_depletion_mm"], 0, []


def kc(n):
    a, b, c, _ = (sum(ends["days"][: i + 1]) for i in range(4))
    first, mid, late = ends["kc"]
    if "constant-kc" in slips:
        return mid
    if n <= a:
        return first
    if n <= b:
        return first + (mid - first) * (n - a) / (b - a)
    if n <= c:
        return mid
    return mid + (late - mid) * (n - c) / ends["days"][3]


for row in csv.DictReader((inputs / "weather.csv").open()):
    day += 1
    rain, et0 = float(row["rain_mm"]), float(row["et0_mm"])
    rain = rain if rain >= soil["least_rain_mm"] or "all-rain" in slips else 0.0
    stress = 1.0 if depletion <= raw or "no-stress" in slips else max(0.0, (taw - depletion) / (taw - raw))
    use = stress * kc(day) * et0
    depletion = depletion + use - rain
    drained = max(0.0, -depletion)
    if "no-drainage" not in slips:
        depletion = max(0.0, depletion)
    water = 0.0
    if depletion > raw and day % soil["irrigation_every_days"] == 0:
        water = min(depletion, soil["most_irrigation_mm"])
        depletion -= water
    depletion = min(depletion, taw)
    rows.append([row["date"], f"{use:.3f}", f"{drained:.3f}", f"{water:.3f}", f"{depletion:.3f}"])
with (output / "balance.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["date", "crop_use_mm", "drainage_mm", "irrigation_mm", "depletion_mm"])
    out.writerows(rows)
total = [sum(float(r[i]) for r in rows) for i in (1, 2, 3)]
(output / "season.json").write_text(
    json.dumps(dict(zip(["crop_use_mm", "drainage_mm", "irrigation_mm"], total, strict=True)))
)
