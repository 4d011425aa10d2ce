import unittest
from decimal import Decimal

from invoicer.money import format_amount, parse_amount, round_cents


class Money(unittest.TestCase):
    def test_parse(self):
        for text in ("1234.50", "1,234.50", "1.234,50", "1234,5", "€ 1,234.50", "1.234,50 EUR"):
            self.assertEqual(parse_amount(text), Decimal("1234.5"), text)
        self.assertEqual(parse_amount("12,00-"), Decimal("-12"))

    def test_parse_refuses(self):
        for text in ("", "twelve", "1.2.3", "1,23,456"):
            with self.assertRaises(ValueError):
                parse_amount(text)

    def test_round(self):
        self.assertEqual(round_cents(Decimal("1.994")), Decimal("1.99"))
        self.assertEqual(round_cents(Decimal("1.996")), Decimal("2.00"))

    def test_format(self):
        self.assertEqual(format_amount(Decimal("1234.5")), "1,234.50")
        self.assertEqual(format_amount(Decimal("-1234.5"), comma=True), "-1.234,50")

    def test_reported_half_cents(self):
        self.assertEqual(round_cents(Decimal("2.675")), Decimal("2.68"))
