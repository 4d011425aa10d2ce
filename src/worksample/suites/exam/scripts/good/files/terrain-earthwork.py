"""Cut, fill and topsoil of a platform on a terrain grid."""

import json
import sys
from pathlib import Path

import numpy as np

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
lines = (inputs / "terrain.asc").read_text().splitlines()
head = {k.lower(): float(v) for k, v in (line.split() for line in lines[:6])}
ground = np.array([[float(v) for v in line.split()] for line in lines[6:]])
if "nodata-as-height" not in slips:
    ground[ground == head["nodata_value"]] = np.nan
told = json.loads((inputs / "platform.json").read_text())
cell = head["cellsize"]
row, column = np.mgrid[: ground.shape[0], : ground.shape[1]]
(top, bottom), (left, right) = told["rows"], told["columns"]
away = np.hypot(
    np.maximum(0, np.maximum(top - row, row - bottom)), np.maximum(0, np.maximum(left - column, column - right))
)
rise = away * cell / told["batter"]
if "no-batter" in slips:
    rise = np.where(away > 0, np.inf, 0.0)
level = told["level"]
design = np.clip(ground, level - rise, level + rise)
depth = design - ground
if "sign-swapped" in slips:
    depth = -depth
area = cell**2
cut, fill = float(-depth[depth < 0].sum() * area), float(depth[depth > 0].sum() * area)
topsoil = float((np.abs(depth) > 0).sum() * area * told["topsoil"])
swell = 1.0 if "no-swell" in slips else told["swell"]
np.save(output / "depth.npy", depth)
summary = {"cut_m3": cut, "fill_m3": fill, "topsoil_m3": topsoil, "loose_cut_m3": cut * swell}
(output / "summary.json").write_text(json.dumps({k: round(v, 2) for k, v in summary.items()}))
