"""JSON from outside, read where it holds up nobody."""

from __future__ import annotations

from typing import Any

from .json_limits import JsonLimits, count_values, read_json
from .worker_processes import apart

USUAL = JsonLimits()
SMALL_BYTES, SMALL_VALUES = 1 << 16, 2000
"""What is read in this process takes some milliseconds."""


async def parse_json(data: bytes | bytearray, limits: JsonLimits = USUAL, what: str = "the body") -> Any:
    """`read_json`: of what is large in a process of its own. ForeignInputError, ForeignWorkLost."""
    if len(data) <= SMALL_BYTES and count_values(data) <= SMALL_VALUES:
        return read_json(data, limits, what)
    return await apart().run("worksample.files.untrusted.json_limits:read_json", data, limits, what)
