"""Invoice numbers."""

import re

_NUMBER = re.compile(r"\d{4}-\d{4,}")


def next_number(existing, year):
    """The next number of a year."""
    used = sorted(n for n in existing if _NUMBER.fullmatch(n))
    if used and not used[-1].startswith(str(year)):
        used = []
    last = int(used[-1].split("-")[1]) if used else 0
    return f"{year}-{last + 1:04d}"
