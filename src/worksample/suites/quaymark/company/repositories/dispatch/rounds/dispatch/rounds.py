"""Rounds: which orders a vehicle takes."""

from .orders import Order

ROOM = 33
"""Pallets of a vehicle."""


class Full(ValueError):
    """The vehicle has no room for it."""


class Round:
    def __init__(self, vehicle, room=ROOM):
        self.vehicle, self.room, self.orders = vehicle, room, []

    @property
    def pallets(self):
        return sum(order.pallets for order in self.orders)

    def take(self, order: Order):
        """Put an order on the round."""
        if self.pallets + order.pallets > self.room:
            raise Full(f"{self.vehicle} has room for {self.room - self.pallets} pallets, {order.number} has {order.pallets}")
        self.orders.append(order.moved("planned"))
