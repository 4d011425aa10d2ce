"""Durations as text that people write, such as `90s` or `1h 30m`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_STEP = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d)")


def parse_seconds(value: Any) -> Any:
    """Return the number of seconds of a text such as `"90"`, `"30m"` or `"1h 30m"`. A value that is not text is
    returned unchanged for the type check that follows. Raises ValueError if the text is no duration.
    """
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not re.fullmatch(rf"({_STEP.pattern}\s*)+", text):
        raise ValueError(f"{value!r} is not a duration; write seconds, or 30m, or 1h30m")
    return sum(float(number) * _UNITS[unit] for number, unit in _STEP.findall(text))


Seconds = Annotated[float, BeforeValidator(parse_seconds)]
