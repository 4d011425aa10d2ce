import unittest

from insights.loads import of_month
from insights.monthly import totals


def row(delivery, status, pallets, depot="Rotterdam", planned="2026-02-03"):
    return {"delivery": delivery, "customer": "Nordvik Foods", "depot": depot, "planned": planned,
            "status": status, "pallets": str(pallets)}


class Totals(unittest.TestCase):
    def test_by_depot(self):
        rows = [row("D1", "delivered", 4), row("D2", "delivered", 2, "Antwerp"), row("D3", "planned", 9)]
        self.assertEqual(totals(rows), {"Rotterdam": (1, 4), "Antwerp": (1, 2)})

    def test_month(self):
        rows = [row("D1", "delivered", 4), row("D2", "delivered", 2, planned="2026-03-01")]
        self.assertEqual([one["delivery"] for one in of_month(rows, "2026-02")], ["D1"])
