"""The order of a round's stops: nearest first, among those that can still be reached in time."""

from .travel import minutes
from .windows import read_window, wait

UNLOAD = 12


def plan(depot, leaves, stops):
    """[(name, arrival)] of a round. A stop has `name`, `place` and `window`. ValueError where one cannot be reached."""
    here, now, left, order = depot, float(leaves), list(stops), []
    while left:
        reachable = []
        for stop in left:
            arrival = now + minutes(here, stop["place"])
            waiting = wait(read_window(stop["window"]), arrival)
            if waiting is not None:
                reachable.append((arrival + waiting, stop["name"], stop))
        if not reachable:
            raise ValueError("no stop can be reached in time: " + ", ".join(stop["name"] for stop in left))
        arrival, _, stop = min(reachable, key=lambda one: one[:2])
        order.append((stop["name"], arrival))
        left.remove(stop)
        here, now = stop["place"], arrival + UNLOAD
    return order
