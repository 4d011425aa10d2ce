"""Lines of an invoice."""

import csv
import io
from dataclasses import dataclass
from decimal import Decimal

from .money import parse_amount, round_cents


@dataclass(frozen=True)
class Line:
    text: str
    quantity: Decimal
    unit_price: Decimal
    vat_rate: Decimal

    @property
    def net(self):
        return round_cents(self.quantity * self.unit_price)


def read_lines(csv_text):
    """Lines from CSV, separated by semicolons."""
    rows = csv.DictReader(io.StringIO(csv_text), delimiter=";")
    return [
        Line(row["text"], parse_amount(row["quantity"]), parse_amount(row["unit_price"]), parse_amount(row["vat_rate"]))
        for row in rows
    ]
