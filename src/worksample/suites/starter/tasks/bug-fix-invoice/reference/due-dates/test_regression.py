"""The faults reported in ISSUE.md must not come back."""

import unittest
from datetime import date

from invoicer.numbers import next_number
from invoicer.terms import due_date


class Reported(unittest.TestCase):
    def test_end_of_december(self):
        self.assertEqual(due_date(date(2025, 12, 3), "eom"), date(2025, 12, 31))

    def test_months_without_such_a_day(self):
        self.assertEqual(due_date(date(2026, 1, 30), "1 month"), date(2026, 3, 2))
        self.assertEqual(due_date(date(2028, 1, 31), "1 month"), date(2028, 2, 29))

    def test_sunday_moves_to_monday(self):
        self.assertEqual(due_date(date(2026, 3, 1), "net 14"), date(2026, 3, 16))

    def test_each_year_counts_from_one(self):
        self.assertEqual(next_number(["2025-0312", "2025-0313"], 2026), "2026-0001")


if __name__ == "__main__":
    unittest.main()
