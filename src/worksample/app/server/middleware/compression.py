"""Which answers are gzipped, and for whom."""

from __future__ import annotations

LARGE = 4096
"""Bytes from which an answer of the API is packed. Those with a secret are smaller: sizes would tell it."""
LEVEL = 4
"""Of what is packed anew for each answer; what is kept is packed harder."""


def takes_gzip(accept: str) -> bool:
    """`accept`: the header Accept-Encoding."""
    for choice in accept.split(","):
        name, _, quality = choice.partition(";")
        if name.strip().lower() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
