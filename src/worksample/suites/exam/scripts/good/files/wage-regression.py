"""A wage equation by least squares with robust standard errors."""

import csv
import json
import sys
from pathlib import Path

import numpy as np

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
rows = []
for row in csv.DictReader((inputs / "survey.csv").open()):
    if "missing-as-zero" in slips:
        row = {k: v if v not in ("", "-9") else "0" for k, v in row.items()}
    elif any(row[k] in ("", "-9") for k in ("hourly_wage", "schooling_years", "age", "female")):
        continue
    if float(row["hourly_wage"]) <= 0 or not 18 <= float(row["age"]) <= 65:
        continue
    rows.append(row)
wage, school, age, female = (
    np.array([float(r[k]) for r in rows]) for k in ("hourly_wage", "schooling_years", "age", "female")
)
union = np.array([r["union"].strip().lower() in ("1", "yes") for r in rows], dtype=float)
work = np.maximum(0, age - school - 6)
names = ["constant", "schooling", "experience", "experience_squared", "female", "union"]
x = np.stack([np.ones_like(wage), school, work, work**2 / 100, female, union], axis=1)
y = wage if "no-logarithm" in slips else np.log(wage)
inverse = np.linalg.inv(x.T @ x)
beta = inverse @ x.T @ y
rest = y - x @ beta
n, k = x.shape
if "classical-errors" in slips:
    spread = inverse * (rest @ rest) / (n - k)
else:
    spread = inverse @ (x.T * rest**2) @ x @ inverse * n / (n - k)
told = {"n": n, "r_squared": round(1 - float(rest @ rest / ((y - y.mean()) ** 2).sum()), 5),
        "coefficients": {name: {"estimate": round(float(b), 6), "robust_se": round(float(s), 6)}
                         for name, b, s in zip(names, beta, np.sqrt(np.diag(spread)), strict=True)}}  # fmt: skip
(output / "wages.json").write_text(json.dumps(told, indent=1))
