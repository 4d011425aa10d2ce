"""A boundary plan from a traverse, adjusted by the compass rule."""

import csv
import json
import math
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
legs = list(csv.DictReader((inputs / "traverse.csv").open()))
sheet = json.loads((inputs / "sheet.json").read_text())


def move(bearing, distance):
    angle = math.radians(float(bearing))
    if "mathematical-angles" in slips:
        angle = math.pi / 2 - angle
        angle = -angle
    return float(distance) * math.sin(angle), float(distance) * math.cos(angle)


east, north = sheet["first_station"]
stations = [(east, north)]
for leg in legs:
    de, dn = move(leg["bearing_deg"], leg["distance_m"])
    stations.append((stations[-1][0] + de, stations[-1][1] + dn))
gap = stations[-1][0] - east, stations[-1][1] - north
whole, gone, fixed = sum(float(leg["distance_m"]) for leg in legs), 0.0, [stations[0]]
for leg, (e, n) in zip(legs, stations[1:], strict=True):
    gone += float(leg["distance_m"])
    share = 0 if "no-adjustment" in slips else gone / whole
    fixed.append((e - gap[0] * share, n - gap[1] * share))
named = {leg["from"]: place for leg, place in zip(legs, fixed, strict=False)}
left, top = sheet["left_m"], sheet["top_m"]
scale = 1000 / sheet["scale"]


def paper(place):
    down = place[1] - top if "north-down" in slips else top - place[1]
    return f"{(place[0] - left) * scale:.3f},{down * scale:.3f}"


shapes = [f'<polygon id="boundary" points="{" ".join(paper(p) for p in fixed[:-1])}"/>']
buildings = {}
for row in csv.DictReader((inputs / "corners.csv").open()):
    de, dn = move(row["bearing_deg"], row["distance_m"])
    e, n = named[row["station"]]
    buildings.setdefault(row["building"], []).append((e + de, n + dn))
if "no-buildings" not in slips:
    shapes += [f'<polygon id="{k}" points="{" ".join(map(paper, v))}"/>' for k, v in buildings.items()]
width, height = sheet["paper_mm"]
(output / "plan.svg").write_text(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
    f'fill="none" stroke="black" stroke-width="0.3">{"".join(shapes)}</svg>\n'
)
