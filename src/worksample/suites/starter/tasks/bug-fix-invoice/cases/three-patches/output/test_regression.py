import unittest
from datetime import date

from invoicer.terms import due_date


class Reported(unittest.TestCase):
    def test_december(self):
        self.assertEqual(due_date(date(2025, 12, 3), "eom"), date(2025, 12, 31))

    def test_sunday(self):
        self.assertEqual(due_date(date(2026, 3, 1), "net 14"), date(2026, 3, 16))
