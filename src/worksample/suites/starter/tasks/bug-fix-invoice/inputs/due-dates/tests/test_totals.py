import unittest
from decimal import Decimal

from invoicer.lines import Line, read_lines
from invoicer.totals import invoice_totals


def line(quantity, price, rate="19"):
    return Line("x", Decimal(quantity), Decimal(price), Decimal(rate))


class Totals(unittest.TestCase):
    def test_two_rates(self):
        found = invoice_totals([line("2", "50"), line("1", "10", "7")])
        self.assertEqual(found["net"], Decimal("110"))
        self.assertEqual(found["vat"], {Decimal(19): Decimal("19"), Decimal(7): Decimal("0.70")})
        self.assertEqual(found["gross"], Decimal("129.70"))

    def test_nothing(self):
        self.assertEqual(invoice_totals([])["gross"], 0)

    def test_read_lines(self):
        found = read_lines("text;quantity;unit_price;vat_rate\nPaper;1.000,5;0,10;19\n")
        self.assertEqual(found, [Line("Paper", Decimal("1000.5"), Decimal("0.10"), Decimal("19"))])
