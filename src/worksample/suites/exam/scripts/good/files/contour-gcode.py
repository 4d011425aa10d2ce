"""The outside contour of a plate, offset by the tool's radius, in passes."""

import csv
import json
import math
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
corners = [(float(r["x_mm"]), float(r["y_mm"])) for r in csv.DictReader((inputs / "outline.csv").open())]
job = json.loads((inputs / "job.json").read_text())
radius = job["tool_mm"] / 2 * (0 if "no-offset" in slips else 1)
doubled = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1], strict=True))
side = 1 if doubled > 0 else -1


def offset(before, at, after):
    """Move a corner outwards so that both edges keep the tool's radius."""
    (ax, ay), (bx, by) = [
        ((q[0] - p[0]) / math.dist(p, q), (q[1] - p[1]) / math.dist(p, q)) for p, q in ((before, at), (at, after))
    ]
    nx, ny, mx, my = side * ay, -side * ax, side * by, -side * bx
    scale = radius / (1 + nx * mx + ny * my)
    return at[0] + (nx + mx) * scale, at[1] + (ny + my) * scale


count = len(corners)
path = [offset(corners[i - 1], corners[i], corners[(i + 1) % count]) for i in range(count)]
safe = -1.0 if "drags-through" in slips else job["safe_z_mm"]
text = ["G21 G90 G17", f"G0 Z{safe}", "" if "spindle-off" in slips else f"M3 S{job['rpm']}"]
text.append(f"G0 X{path[0][0]:.4f} Y{path[0][1]:.4f}")
depth = 0.0
while depth < job["thickness_mm"] - 1e-9:
    depth = min(depth + job["step_mm"], job["thickness_mm"])
    if "one-pass" in slips:
        depth = job["thickness_mm"]
    text.append(f"G1 Z{-depth:.4f} F{job['plunge_mm_min']}")
    text += [f"G1 X{x:.4f} Y{y:.4f} F{job['feed_mm_min']}" for x, y in path[1:] + path[:1]]
(output / "contour.nc").write_text("\n".join([*text, f"G0 Z{job['safe_z_mm']}", "M5", "M30", ""]))
