"""Formatting of figures as text, in the same way for the terminal and for pages."""

from __future__ import annotations

from worksample.dollar_text import in_dollars
from worksample.metrics import Estimate, Unit

DASH = "–"
KINDS = ("rate", "score", "dollars", "seconds", "count", "points", "bytes")


def figure(value: float | None, kind: str = "score") -> str:
    """Format a number according to its kind. None is printed as a dash."""
    if value is None:
        return DASH
    if kind == "rate":
        return f"{100 * value:.1f} %".replace("-0.0 %", "0.0 %")
    if kind == "dollars":
        return in_dollars(value)
    if kind == "seconds":
        return duration(value)
    if kind == "count":
        return f"{value:,.0f}" if abs(value) >= 10 or float(value).is_integer() else f"{value:.1f}"
    if kind == "bytes":
        return size(value)
    if kind == "points":
        return f"{value:.3g}"
    return f"{value:.3f}"


def duration(seconds: float) -> str:
    """Format seconds: 0.42 s, 12.3 s, 4 min 05 s, 2 h 03 min."""
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def size(count: float) -> str:
    """Format a number of bytes in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError


def with_interval(estimate: Estimate, kind: str) -> str:
    """Format a value with its interval: `41.7 % [20.1, 66.2]`."""
    if estimate.value is None:
        return DASH
    text = figure(estimate.value, kind)
    if estimate.low is None or estimate.high is None:
        return text
    low, high = figure(estimate.low, kind).removesuffix(" %"), figure(estimate.high, kind).removesuffix(" %")
    return f"{text} [{low}, {high}]"


def unit_figure(value: float, unit: Unit, digits: int | None = None) -> str:
    """Format a number according to its unit. A number without a unit is printed as short as possible.

    `digits` is the number of decimals to print, if it is not the default of the unit.
    """
    if unit is Unit.SHARE:
        return figure(value, "rate") if digits is None else f"{100 * value:.{digits}f} %"
    if unit is Unit.POINTS:
        return f"{100 * value:+.{1 if digits is None else digits}f} pp"
    if unit is Unit.SPREAD:
        return f"{100 * value:.{1 if digits is None else digits}f} pp"
    if unit is Unit.COUNT and digits is not None:
        return f"{value:,.{digits}f}"
    if unit is Unit.USD:
        return figure(value, "dollars")
    if unit is Unit.ELO:
        return f"{value:,.0f}"
    if unit is Unit.HOURS:
        return f"{value:,.1f} h"
    if unit is Unit.COUNT:
        return figure(value, "count")
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.6f}".rstrip("0").rstrip(".")
