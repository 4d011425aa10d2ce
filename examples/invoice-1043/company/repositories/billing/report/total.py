"""What an invoice comes to: lines added per rate, the tax of each rate rounded to cents, half up."""

import csv
import sys
from decimal import ROUND_HALF_UP, Decimal

from rates import RATES

CENT = Decimal("0.01")


def total(lines):
    by_rate = {}
    for line in lines:
        rate = RATES[line["kind"].strip().lower()]
        by_rate[rate] = by_rate.get(rate, Decimal(0)) + Decimal(line["quantity"]) * Decimal(line["price"])
    taxes = [(net * rate / 100).quantize(CENT, ROUND_HALF_UP) for rate, net in by_rate.items()]
    return sum(by_rate.values()) + sum(taxes)


if __name__ == "__main__":
    with open(sys.argv[1], newline="") as file:
        print(total([line for line in csv.DictReader(file) if line["invoice"] == sys.argv[2]]))
