"""Rounding of printed figures: half up and from exact rational numbers, as published tables do (RLI's 3/240 prints 1.3
%).
"""

from __future__ import annotations

from fractions import Fraction

from worksample.errors import UsageError


def round_half_up(number: Fraction | float, digits: int = 0) -> Fraction:
    """Return `number` rounded to `digits` decimals, with halves rounded away from zero. The calculation is exact,
    without binary rounding errors.
    """
    exact = Fraction(number)
    scale = Fraction(10) ** digits
    steps = abs(exact) * scale + Fraction(1, 2)
    rounded = Fraction(steps.numerator // steps.denominator) / scale
    return rounded if exact >= 0 else -rounded


def fixed_decimals(number: Fraction | float, digits: int = 0) -> str:
    """Return `number` as text with exactly `digits` decimals, rounded half up; a rounded zero has no sign."""
    if digits < 0:
        raise UsageError(f"digits is {digits}; it must be 0 or more", next="pass digits >= 0")
    scaled = round_half_up(number, digits) * 10**digits
    whole = abs(scaled.numerator)
    text = f"{whole:0{digits + 1}d}"
    sign = "-" if scaled < 0 else ""
    return f"{sign}{text[:-digits]}.{text[-digits:]}" if digits else f"{sign}{text}"


def percent(share: Fraction | float, digits: int = 1) -> str:
    """Return a share in 0..1 as a percentage: `percent(Fraction(3, 240))` is `"1.3"`.

    A float counts as the decimal that it is written as: 0.145 is 14.5 %, although its binary value is lower.
    """
    written = share if isinstance(share, Fraction) else Fraction(repr(float(share)))
    return fixed_decimals(written * 100, digits)
