import unittest
from datetime import date

from invoicer.terms import due_date


class Weekends(unittest.TestCase):
    def test_friday(self):
        self.assertEqual(due_date(date(2026, 3, 1), "net 14"), date(2026, 3, 13))
