"""Terms of payment."""

import re
from calendar import monthrange
from datetime import date, timedelta


def end_of_month(day):
    """The last day of a day's month."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def add_months(day, count):
    """The same day some months later, or the last day of that month."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def working_day(day):
    """The day itself, or the Monday after a weekend."""
    return day + timedelta(days={5: 2, 6: 1}.get(day.weekday(), 0))


def due_date(day, terms):
    """When an invoice of `day` must be paid."""
    if match := re.fullmatch(r"net (\d+)", terms):
        return working_day(day + timedelta(days=int(match[1])))
    if match := re.fullmatch(r"(\d+) months?", terms):
        return working_day(add_months(day, int(match[1])))
    if match := re.fullmatch(r"eom(?:\+(\d+))?", terms):
        return working_day(end_of_month(day) + timedelta(days=int(match[1] or 0)))
    raise ValueError(f"unknown terms: {terms!r}")
