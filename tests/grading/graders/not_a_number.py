"""Gives NaN where a share is wanted."""

from worksample.kit import Check, checklist


def grade(case):
    return checklist(case, right=lambda: Check(float("nan")))
