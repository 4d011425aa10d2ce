"""How long it takes from one place to another."""

from math import hypot

SPEED = 55.0


def minutes(a, b):
    """Between two places, given as (x, y) in kilometres; 1.3 for roads that are not straight."""
    return hypot(a[0] - b[0], a[1] - b[1]) * 1.3 / SPEED * 60
