"""Cleans a survey's raw file by its codebook, weights it, and writes figures, chart and text."""

import csv
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

source, target = Path(sys.argv[1]), Path(sys.argv[2])
codebook = (source / "codebook.txt").read_text(encoding="utf-8")
answers = dict(re.findall(r"\b([1-9]) ([a-z]+(?: [a-z]+)*)", codebook.split('?"', 1)[1].split("-9", 1)[0]))
raw = list(csv.DictReader((source / "responses.csv").open(encoding="utf-8"), delimiter=";"))
group, question = list(raw[0])[4:6]
records = {}
for row in raw:
    word = " ".join(row[question].lower().split()).removesuffix(".0")
    answer = answers.get(word, word)
    weight = row["weight"].strip().replace(",", ".")
    credible = row["status"] == "complete" and int(row["seconds"]) >= 60 and not row["respondent"].startswith("TEST")
    if credible and answer in answers.values() and weight:
        records.setdefault(row["respondent"], (row[group].strip().lower(), answer, float(weight)))


def shares(chosen):
    total, found = 0.0, dict.fromkeys(answers.values(), 0.0)
    for _, answer, weight in chosen:
        found[answer] += weight
        total += weight
    return {answer: round(100 * weight / total, 3) for answer, weight in found.items()}


by_group = defaultdict(list)
for record in records.values():
    by_group[record[0]].append(record)
weights = [w for *_, w in records.values()]
effective = sum(weights) ** 2 / sum(w * w for w in weights)
overall = shares(records.values())
largest = max(overall, key=overall.get)
p = overall[largest] / 100
margin = 196 * (p * (1 - p) / effective) ** 0.5
findings = {
    "respondents": len(records),
    "effective_sample": round(effective, 2),
    "shares": overall,
    "by_group": {name: shares(chosen) for name, chosen in sorted(by_group.items())},
    "largest": largest,
    "margin_of_error": round(margin, 3),
}
(target / "findings.json").write_text(json.dumps(findings, indent=2))

step, scale = 700 / len(overall), 330 / max(overall.values())
svg = [
    '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="500" viewBox="0 0 800 500">',
    "<style>.bar { fill: #1f6f8b } text { font: 16px sans-serif; text-anchor: middle }</style>",
    '<path d="M0 0H800V500H0Z" fill="white"/><path d="M50 430H750" stroke="#555"/>',
    f'<text x="400" y="45">Answers to "{question}", weighted, n = {len(records)}</text>',
]
for i, (answer, share) in enumerate(overall.items()):
    middle, height = 50 + (i + 0.5) * step, share * scale
    left = middle - step * 0.3
    svg.append(
        f'<rect class="bar" x="{left:.2f}" y="{430 - height:.2f}" width="{step * 0.6:.2f}" height="{height:.2f}"/>'
    )
    svg.append(f'<text x="{middle:.2f}" y="{420 - height:.2f}">{share:.1f} %</text>')
    svg.append(f'<text x="{middle:.2f}" y="456">{answer}</text>')
(target / "chart.svg").write_text("\n".join([*svg, "</svg>\n"]))
(target / "summary.md").write_text(
    f'The most frequent answer was "{largest}": {overall[largest]:.1f} % gave it. The margin of error is '
    f"{margin:.1f} percentage points up or down. The result rests on {len(records)} valid records, "
    "weighted so that all groups count as much as they do in reality.\n"
)
