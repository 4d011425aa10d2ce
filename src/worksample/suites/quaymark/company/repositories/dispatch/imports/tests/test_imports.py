import unittest

from dispatch.imports import read_orders


class Imports(unittest.TestCase):
    def test_faults_are_told(self):
        orders, faults = read_orders("A1;Nordvik Foods;4\nA2;Pellworm Dairy;many\n")
        self.assertEqual([one.number for one in orders], ["A1"])
        self.assertEqual(len(faults), 1)
