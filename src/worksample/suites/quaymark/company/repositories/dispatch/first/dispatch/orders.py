"""Orders: what is to be brought where, and what became of it."""

from dataclasses import dataclass, replace

STATES = ("new", "planned", "loaded", "delivered", "cancelled")


@dataclass(frozen=True)
class Order:
    number: str
    customer: str
    pallets: int
    state: str = "new"

    def moved(self, state):
        """The order in another state. ValueError where it cannot go there."""
        if state not in STATES:
            raise ValueError(f"no state of an order: {state!r}")
        if self.state in ("delivered", "cancelled"):
            raise ValueError(f"order {self.number} is {self.state}")
        return replace(self, state=state)
