import unittest

from dispatch.orders import Order


class Orders(unittest.TestCase):
    def test_moves(self):
        self.assertEqual(Order("A1", "Nordvik Foods", 4).moved("planned").state, "planned")

    def test_what_is_delivered_stays(self):
        with self.assertRaises(ValueError):
            Order("A1", "Nordvik Foods", 4, "delivered").moved("new")
