"""Rules for gzip compression of responses."""

from __future__ import annotations

LARGE = 4096
"""Bytes from which a response of the API is compressed. Responses with secrets are smaller, so their size reveals
nothing.
"""
LEVEL = 4
"""Level for responses compressed on each request; cached ones use a higher level."""


def takes_gzip(accept: str) -> bool:
    """Tell whether a client accepts gzip. `accept`: its Accept-Encoding header."""
    for choice in accept.split(","):
        name, _, quality = choice.partition(";")
        if name.strip().lower() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
