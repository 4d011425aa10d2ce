"""In which order a person sees items, and which of a pair stands first: random, recorded, counterbalanced."""

from __future__ import annotations

import random

from worksample.records import digest_of


def random_start(seed: int, account: str) -> tuple[float, bool]:
    """Where in the circle of places a person begins, and whether backwards: each sees an order of their own."""
    draw = random.Random(f"order {seed} {account}")
    return draw.random(), draw.random() < 0.5


def flipped(seed: int, account: str, ordinal: int) -> bool:
    """Whether a person's item number `ordinal` is turned round: one of every two is, and which one is drawn."""
    first = int(digest_of([seed, account, ordinal // 2])[:8], 16) & 1
    return bool(first ^ (ordinal & 1))
