import unittest
from datetime import date

from invoicer.terms import due_date


class Terms(unittest.TestCase):
    def test_net(self):
        self.assertEqual(due_date(date(2026, 3, 2), "net 14"), date(2026, 3, 16))

    def test_saturday(self):
        self.assertEqual(due_date(date(2026, 3, 6), "net 8"), date(2026, 3, 16))

    def test_months(self):
        self.assertEqual(due_date(date(2026, 4, 15), "2 months"), date(2026, 6, 15))

    def test_end_of_month(self):
        self.assertEqual(due_date(date(2026, 6, 3), "eom"), date(2026, 6, 30))

    def test_unknown(self):
        with self.assertRaises(ValueError):
            due_date(date(2026, 6, 3), "soon")

    def test_reported_end_of_december(self):
        self.assertEqual(due_date(date(2025, 12, 3), "eom"), date(2025, 12, 31))

    def test_reported_month_after_january_30(self):
        self.assertEqual(due_date(date(2026, 1, 30), "1 month"), date(2026, 3, 2))

    def test_reported_sunday(self):
        self.assertEqual(due_date(date(2026, 3, 1), "net 14"), date(2026, 3, 16))
