"""The faults reported in ISSUE.md must not come back."""

import unittest
from decimal import Decimal

from invoicer.lines import Line
from invoicer.money import round_cents
from invoicer.totals import invoice_totals


def lines(*prices, rate="19"):
    return [Line("x", Decimal(1), Decimal(price), Decimal(rate)) for price in prices]


class Reported(unittest.TestCase):
    def test_half_cents_go_away_from_zero(self):
        for value, cents in (("2.675", "2.68"), ("0.125", "0.13"), ("-0.125", "-0.13"), ("1.005", "1.01")):
            self.assertEqual(round_cents(Decimal(value)), Decimal(cents), value)

    def test_vat_is_rounded_once_per_rate(self):
        self.assertEqual(invoice_totals(lines(*["0.13"] * 10))["vat"], {Decimal(19): Decimal("0.25")})

    def test_vat_is_due_on_what_is_left_after_the_discount(self):
        found = invoice_totals(lines("200"), 3)
        self.assertEqual(found["vat"], {Decimal(19): Decimal("36.86")})
        self.assertEqual(found["gross"], Decimal("230.86"))


if __name__ == "__main__":
    unittest.main()
