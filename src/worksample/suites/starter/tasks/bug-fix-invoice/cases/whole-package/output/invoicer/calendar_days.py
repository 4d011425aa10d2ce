"""Days of the calendar."""

from datetime import date, timedelta

SATURDAY = 5


def first_of_month(year, month):
    """The first day of a month; months beyond 12 belong to the years after."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def month_end(year, month):
    return first_of_month(year, month + 1) - timedelta(days=1)


def not_on_weekend(day):
    while day.weekday() >= SATURDAY:
        day += timedelta(days=1)
    return day
