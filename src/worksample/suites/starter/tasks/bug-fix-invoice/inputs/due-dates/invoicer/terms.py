"""Due dates."""

import re
from datetime import date, timedelta

NET = re.compile(r"net (\d+)")
MONTHS = re.compile(r"(\d+) months?")
EOM = re.compile(r"eom(?:\+(\d+))?")


def last_day(day):
    first_of_next = date(day.year, day.month + 1, 1)
    return first_of_next - timedelta(days=1)


def later(day, months):
    year = day.year
    month = day.month + months
    if month > 12:
        year += 1
        month -= 12
    return date(year, month, day.day)


def no_weekend(day):
    if day.weekday() == 5:
        return day + timedelta(days=2)
    return day


def due_date(day, terms):
    m = NET.fullmatch(terms)
    if m:
        return no_weekend(day + timedelta(days=int(m.group(1))))
    m = MONTHS.fullmatch(terms)
    if m:
        return no_weekend(later(day, int(m.group(1))))
    m = EOM.fullmatch(terms)
    if m:
        return last_day(day) + timedelta(days=int(m.group(1) or 0))
    raise ValueError("unknown terms: " + terms)
