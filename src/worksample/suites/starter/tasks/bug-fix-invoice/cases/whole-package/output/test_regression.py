import unittest
from datetime import date, timedelta

from invoicer.numbers import next_number
from invoicer.terms import due_date


class Regression(unittest.TestCase):
    def test_every_day_of_two_years_has_a_due_date_on_a_working_day(self):
        for offset in range(731):
            day = date(2027, 1, 1) + timedelta(days=offset)
            for terms in ("net 14", "1 month", "3 months", "eom", "eom+10"):
                with self.subTest(day=day, terms=terms):
                    self.assertLess(due_date(day, terms).weekday(), 5)

    def test_new_year(self):
        self.assertEqual(next_number(["2025-0312", "2025-0313"], 2026), "2026-0001")
