"""Kaplan-Meier curves of two arms, medians, and the log-rank test."""

import csv
import json
import math
import sys
from datetime import date
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
plan = json.loads((inputs / "plan.json").read_text())
cutoff = date.fromisoformat(plan["cutoff"])
times = []
for row in csv.DictReader((inputs / "patients.csv").open()):
    if row["consent_withdrawn"] == "before treatment" and "all-randomised" not in slips:
        continue
    begun = date.fromisoformat(row["randomised"])
    died = date.fromisoformat(row["died"]) if row["died"] else None
    seen = date.fromisoformat(row["last_seen"])
    event = died is not None and (died <= cutoff or "past-cutoff" in slips)
    end = died if event else min(seen, cutoff)
    if "drops-censored" in slips and not event:
        continue
    times.append((row["arm"], (end - begun).days, event))
rows, medians, at_risk = [], {}, {}
for arm in sorted({a for a, _, _ in times}):
    own = sorted((t, e) for a, t, e in times if a == arm)
    alive = 1.0
    for t in sorted({t for t, e in own if e}):
        n, d = sum(u >= t for u, _ in own), sum(u == t and e for u, e in own)
        alive *= 1 - d / n
        rows.append((arm, t, n, d, f"{alive:.5f}"))
        if alive <= 0.5 and arm not in medians:
            medians[arm] = t
observed = expected = variance = 0.0
arms = sorted({a for a, _, _ in times})
for t in sorted({t for _, t, e in times if e}):
    n = sum(u >= t for _, u, _ in times)
    n1 = sum(u >= t for a, u, _ in times if a == arms[0])
    d = sum(u == t and e for _, u, e in times)
    observed += sum(u == t and e for a, u, e in times if a == arms[0])
    expected += d * n1 / n
    if n > 1:
        variance += d * (n1 / n) * (1 - n1 / n) * (n - d) / (n - 1)
chi2 = (observed - expected) ** 2 / variance
with (output / "curves.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["arm", "day", "at_risk", "deaths", "survival"])
    out.writerows(rows)
told = {"median_days": {arm: medians.get(arm) for arm in arms}, "logrank_chi2": round(chi2, 4),
        "p_value": round(math.erfc(math.sqrt(chi2 / 2)), 6), "patients": len(times)}  # fmt: skip
(output / "summary.json").write_text(json.dumps(told))
