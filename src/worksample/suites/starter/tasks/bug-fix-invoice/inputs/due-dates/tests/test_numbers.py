import unittest

from invoicer.numbers import next_number


class Numbers(unittest.TestCase):
    def test_next(self):
        self.assertEqual(next_number(["2026-0001", "2026-0041"], 2026), "2026-0042")

    def test_first(self):
        self.assertEqual(next_number([], 2026), "2026-0001")

    def test_reported_new_year(self):
        self.assertEqual(next_number(["2025-0312", "2025-0313"], 2026), "2026-0001")
