"""Terms of payment."""

from datetime import timedelta

from .calendar_days import first_of_month, month_end, not_on_weekend


def due_date(day, terms):
    """When an invoice of `day` must be paid."""
    try:
        return not_on_weekend(_due(day, terms))
    except (IndexError, ValueError):
        raise ValueError(f"unknown terms: {terms!r}") from None


def _due(day, terms):
    if terms == "eom" or terms.startswith("eom+"):
        return month_end(day.year, day.month) + timedelta(days=int(terms[4:] or 0))
    first, second = terms.split(" ")
    if first == "net":
        return day + timedelta(days=int(second))
    if second not in ("month", "months"):
        raise ValueError
    month = first_of_month(day.year, day.month + int(first))
    return min(month + timedelta(days=day.day - 1), month_end(month.year, month.month))
