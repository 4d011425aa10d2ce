import unittest
from decimal import Decimal

from tariff import price
from tariff.surcharge import fuel_share


class Prices(unittest.TestCase):
    def test_base(self):
        self.assertEqual(price("Brasserie Lemaire", 100, 4), Decimal("155.80"))

    def test_contract(self):
        self.assertEqual(price("Nordvik Foods", 100, 4), Decimal("144.12"))

    def test_nobody_pays_less_than_nothing_for_fuel(self):
        self.assertEqual(fuel_share(Decimal("1.32")), 0)

    def test_share_of_fuel(self):
        self.assertEqual(fuel_share(Decimal("1.73")), Decimal("0.048"))

    def test_surcharge(self):
        self.assertEqual(price("Brasserie Lemaire", 100, 4, Decimal("1.60")), Decimal("159.54"))
