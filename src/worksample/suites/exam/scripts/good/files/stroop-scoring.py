"""Stroop effects by the preregistered rules."""

import csv
import json
import statistics
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
rules = json.loads((inputs / "preregistration.json").read_text())
trials = {}
for path in sorted(inputs.glob("session-*.csv")):
    for row in csv.DictReader(path.open()):
        if row["block"] == "practice" and "keeps-practice" not in slips:
            continue
        trials.setdefault(row["participant"], []).append(row)
rows, effects, excluded = [], [], []
for person, own in sorted(trials.items()):
    answered = [row for row in own if row["rt_ms"]]
    right = [row for row in answered if row["response"] == row["ink"]]
    accuracy = len(right) / len(own)
    if accuracy < rules["least_accuracy"] and "no-exclusion" not in slips:
        excluded.append(person)
        continue
    kept = answered if "keeps-errors" in slips else right
    low, high = rules["rt_ms"]
    kept = [row for row in kept if low <= float(row["rt_ms"]) <= high]
    means = {}
    for kind in ("congruent", "incongruent"):
        times = [float(row["rt_ms"]) for row in kept if (row["word"] == row["ink"]) == (kind == "congruent")]
        if "no-trimming" not in slips:
            middle, spread = statistics.fmean(times), statistics.stdev(times)
            times = [t for t in times if abs(t - middle) <= rules["trim_sd"] * spread]
        means[kind] = statistics.fmean(times)
    effect = means["incongruent"] - means["congruent"]
    effects.append(effect)
    rows.append(
        [person, f"{accuracy:.4f}", f"{means['congruent']:.2f}", f"{means['incongruent']:.2f}", f"{effect:.2f}"]
    )
with (output / "participants.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["participant", "accuracy", "congruent_ms", "incongruent_ms", "effect_ms"])
    out.writerows(rows)
mean, spread = statistics.fmean(effects), statistics.stdev(effects)
told = {"n": len(effects), "excluded": excluded, "mean_effect_ms": round(mean, 3), "sd_effect_ms": round(spread, 3),
        "t": round(mean / (spread / len(effects) ** 0.5), 4), "cohens_dz": round(mean / spread, 4)}  # fmt: skip
(output / "summary.json").write_text(json.dumps(told))
