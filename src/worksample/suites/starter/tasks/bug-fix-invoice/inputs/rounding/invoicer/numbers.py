"""Invoice numbers."""

import re

_NUMBER = re.compile(r"(\d{4})-(\d{4,})")


def next_number(existing, year):
    """The next number of a year."""
    used = [int(m[2]) for m in map(_NUMBER.fullmatch, existing) if m and int(m[1]) == year]
    return f"{year}-{max(used, default=0) + 1:04d}"
