import unittest

from routing.plan import plan
from routing.windows import read_window, wait


class Windows(unittest.TestCase):
    def test_read(self):
        self.assertEqual(read_window("06:00-10:30"), (360, 630))

    def test_rubbish(self):
        with self.assertRaises(ValueError):
            read_window("morning")

    def test_wait(self):
        self.assertEqual(wait((360, 630), 350), 10)
        self.assertIsNone(wait((360, 630), 631))


class Plans(unittest.TestCase):
    def test_nearest_first(self):
        stops = [
            {"name": "far", "place": (40, 0), "window": "05:00-12:00"},
            {"name": "near", "place": (10, 0), "window": "05:00-12:00"},
        ]
        self.assertEqual([name for name, _ in plan((0, 0), 300, stops)], ["near", "far"])
