import unittest

from dispatch.orders import Order
from dispatch.rounds import Full, Round


class Rounds(unittest.TestCase):
    def test_room(self):
        one = Round("QM-03", room=10)
        one.take(Order("A1", "Oakridge Garden", 8))
        with self.assertRaises(Full):
            one.take(Order("A2", "Oakridge Garden", 3))
