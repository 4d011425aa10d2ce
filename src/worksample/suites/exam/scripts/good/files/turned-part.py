"""A turned part with a bore as a watertight OBJ."""

import csv
import json
import math
import sys
from itertools import pairwise
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
outside = [(float(r["z_mm"]), float(r["diameter_mm"]) / 2) for r in csv.DictReader((inputs / "profile.csv").open())]
part = json.loads((inputs / "part.json").read_text())
if "diameter-as-radius" in slips:
    outside = [(z, 2 * r) for z, r in outside]
bore, deep = part["bore_mm"] / 2, part["bore_depth_mm"]
ring = [(outside[0][0], 0.0), *outside, (outside[-1][0], 0.0)]
if "no-bore" not in slips:
    end = outside[-1][0]
    floor = 0.0 if "through-bore" in slips else end - deep
    if floor <= outside[0][0]:
        ring = [(outside[0][0], bore), *outside, (end, bore)]
    else:
        ring = [(outside[0][0], 0.0), *outside, (end, bore), (floor, bore), (floor, 0.0)]
count = part["segments"]
corners, rows = [], []
for z, r in ring:
    if r == 0:
        rows.append([len(corners)] * count)
        corners.append((0.0, 0.0, z))
    else:
        rows.append(list(range(len(corners), len(corners) + count)))
        corners += [
            (r * math.cos(2 * math.pi * i / count), r * math.sin(2 * math.pi * i / count), z) for i in range(count)
        ]
faces = []
pairs = list(pairwise(rows)) + ([(rows[-1], rows[0])] if ring[0][1] > 0 else [])
for a, b in pairs:
    for i in range(count):
        j = (i + 1) % count
        quad = [a[i], a[j], b[j], b[i]]
        for one in ((quad[0], quad[1], quad[2]), (quad[0], quad[2], quad[3])):
            if len(set(one)) == 3:
                faces.append(one)
if "open-ends" in slips:
    faces = faces[count:]
text = [f"v {x:.5f} {y:.5f} {z:.5f}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
(output / "part.obj").write_text("\n".join(text) + "\n")
