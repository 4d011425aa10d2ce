"""An outbreak's curve, attack rates by food, and relative risks with confidence intervals."""

import csv
import json
import math
import sys
from collections import Counter
from datetime import date, datetime
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
rules = json.loads((inputs / "definition.json").read_text())
people = {}
for row in csv.DictReader((inputs / "interviews.csv").open()):
    if row["person"] not in people or "first-interview" not in slips:
        people[row["person"]] = row


def onset(row):
    return datetime.fromisoformat(row["onset"]) if row["onset"] else None


def is_case(row):
    if "everyone-ill" in slips:
        return bool(row["onset"])
    many = sum(row[name] == "yes" for name in rules["symptoms"])
    begun, meal = onset(row), datetime.fromisoformat(rules["meal"])
    hours = (begun - meal).total_seconds() / 3600 if begun else -1
    return many >= rules["least_symptoms"] and rules["hours"][0] <= hours <= rules["hours"][1]


cases = {person: is_case(row) for person, row in people.items()}
days = Counter(onset(people[p]).date() for p, ill in cases.items() if ill)
with (output / "curve.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["date", "cases"])
    first, last = min(days), max(days)
    out.writerows(
        [date.fromordinal(n).isoformat(), days[date.fromordinal(n)]]
        for n in range(first.toordinal(), last.toordinal() + 1)
    )
best = None
with (output / "foods.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["food", "attack_exposed_pct", "attack_unexposed_pct", "relative_risk", "low", "high"])
    for food in rules["foods"]:
        told = [
            (people[p][food], ill)
            for p, ill in cases.items()
            if people[p][food] in ("yes", "no") or "unknown-as-no" in slips
        ]
        a = sum(ill for ate, ill in told if ate == "yes")
        b = sum(ate == "yes" for ate, _ in told)
        c = sum(ill for ate, ill in told if ate != "yes")
        d = len(told) - b
        risk = (a / b) / (c / d)
        spread = 1.96 * math.sqrt(1 / a - 1 / b + 1 / c - 1 / d)
        out.writerow([food, f"{100 * a / b:.2f}", f"{100 * c / d:.2f}", f"{risk:.4f}", f"{risk * math.exp(-spread):.4f}",
                      f"{risk * math.exp(spread):.4f}"])  # fmt: skip
        if best is None or risk > best[0]:
            best = risk, food
(output / "summary.json").write_text(
    json.dumps({"cases": sum(cases.values()), "people": len(people), "vehicle": best[1]})
)
