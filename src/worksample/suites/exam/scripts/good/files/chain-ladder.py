"""Claims reserves by the chain ladder."""

import csv
import json
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
told = json.loads((inputs / "settings.json").read_text())
paid = {}
for row in csv.DictReader((inputs / "payments.csv").open()):
    if row["kind"] == "salvage" and "adds-salvage" not in slips:
        row["amount"] = str(-float(row["amount"]))
    key = int(row["accident_year"]), int(row["payment_year"]) - int(row["accident_year"])
    paid[key] = paid.get(key, 0.0) + float(row["amount"])
years = sorted({y for y, _ in paid})
last = max(years)
ages = range(last - min(years) + 1)
table = {}
for year in years:
    sum_ = 0.0
    for age in range(last - year + 1):
        sum_ += paid.get((year, age), 0.0)
        table[year, age] = sum_
factors = []
for age in list(ages)[:-1]:
    known = [y for y in years if (y, age + 1) in table]
    if "simple-average" in slips:
        factors.append(sum(table[y, age + 1] / table[y, age] for y in known) / len(known))
    else:
        factors.append(sum(table[y, age + 1] for y in known) / sum(table[y, age] for y in known))
tail = 1.0 if "no-tail" in slips else told["tail_factor"]
reserves = {}
for year in years:
    ultimate = table[year, last - year] * tail
    for age in range(last - year, len(factors)):
        ultimate *= factors[age]
    reserves[str(year)] = {"ultimate": round(ultimate, 2), "reserve": round(ultimate - table[year, last - year], 2)}
total = sum(one["reserve"] for one in reserves.values())
(output / "reserves.json").write_text(
    json.dumps(
        {"factors": [round(f, 6) for f in factors], "years": reserves, "total_reserve": round(total, 2)}, indent=1
    )
)
