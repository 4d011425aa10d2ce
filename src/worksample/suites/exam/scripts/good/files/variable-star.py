"""Period, amplitude and epoch of a variable star, by a fit of three harmonics over trial periods."""

import csv
import json
import sys
from pathlib import Path

import numpy as np

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
rows = list(csv.DictReader((inputs / "photometry.csv").open()))
if "keeps-flagged" not in slips:
    rows = [row for row in rows if row["flag"] == "0"]
if "one-filter-mixed" not in slips:
    rows = [row for row in rows if row["filter"] == "V"]
day, mag, error = (np.array([float(row[k]) for row in rows]) for k in ("bjd", "mag", "mag_error"))
low, high = json.loads((inputs / "search.json").read_text())["period_days"]


def fit(period):
    angle = 2 * np.pi * (day - day[0]) / period
    columns = [np.ones_like(angle)] + [f(k * angle) for k in (1, 2, 3) for f in (np.sin, np.cos)]
    matrix = np.stack(columns, axis=1) / error[:, None]
    found, *_ = np.linalg.lstsq(matrix, mag / error, rcond=None)
    return float((((matrix @ found) - mag / error) ** 2).sum()), found


span = day.max() - day.min()
trials = 1 / np.arange(1 / high, 1 / low, 0.08 / span)
best = min(trials, key=lambda p: fit(p)[0])
for width in (2e-3, 2e-4, 2e-5, 2e-6):
    best = min(best * (1 + np.linspace(-width, width, 81)), key=lambda p: fit(p)[0])
if "half-period" in slips:
    best = best / 2
shape = fit(best)[1]
phase = np.arange(20_000) / 20_000
curve = shape[0] + sum(
    shape[2 * k - 1] * np.sin(2 * np.pi * k * phase) + shape[2 * k] * np.cos(2 * np.pi * k * phase) for k in (1, 2, 3)
)
epoch = day[0] + best * phase[curve.argmin()]
if "amplitude-from-extremes" in slips:
    curve = mag
told = {"period_days": round(float(best), 7), "amplitude_mag": round(float(np.ptp(curve)), 4),
        "mean_mag": round(float(shape[0]), 4), "epoch_of_maximum_bjd": round(float(epoch), 5),
        "observations_used": len(rows)}  # fmt: skip
(output / "star.json").write_text(json.dumps(told))
