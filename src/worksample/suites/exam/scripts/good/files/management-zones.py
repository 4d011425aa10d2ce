"""Yield zones of a field as polygons in the field's own grid."""

import csv
import json
import math
import statistics
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
field = json.loads((inputs / "field.json").read_text())
angle = 0.0 if "north-grid" in slips else math.radians(field["heading_deg"])
east, north = field["corner"]
size = field["cell_m"]
along, across = (math.sin(angle), math.cos(angle)), (math.cos(angle), -math.sin(angle))
cells = {}
for row in csv.DictReader((inputs / "yield.csv").open()):
    value = float(row["t_ha"])
    if not field["plausible"][0] <= value <= field["plausible"][1] and "keeps-outliers" not in slips:
        continue
    de, dn = float(row["east"]) - east, float(row["north"]) - north
    key = math.floor((de * across[0] + dn * across[1]) / size), math.floor((de * along[0] + dn * along[1]) / size)
    cells.setdefault(key, []).append(value)
middle = statistics.fmean if "means" in slips else statistics.median
known = {key: middle(values) for key, values in cells.items() if len(values) >= field["least_points"]}
low, high = field["classes"]
features = []
for (i, j), value in sorted(known.items()):
    corners = [
        [
            round(east + size * (a * across[0] + b * along[0]), 3),
            round(north + size * (a * across[1] + b * along[1]), 3),
        ]
        for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1), (i, j))
    ]
    rate = field["rates"][0 if value < low else 1 if value < high else 2]
    features.append({"type": "Feature", "properties": {"cell": f"{i}-{j}", "yield_t_ha": round(value, 3), "rate_kg_ha": rate},
                     "geometry": {"type": "Polygon", "coordinates": [corners]}})  # fmt: skip
(output / "zones.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
