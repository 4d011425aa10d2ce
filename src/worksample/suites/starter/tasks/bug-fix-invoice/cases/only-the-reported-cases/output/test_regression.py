import unittest
from decimal import Decimal

from invoicer.money import round_cents


class Reported(unittest.TestCase):
    def test_half_cents(self):
        self.assertEqual(round_cents(Decimal("2.675")), Decimal("2.68"))
