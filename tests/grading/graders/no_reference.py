"""Asks for a reference that is not there."""

from worksample.kit import exact, weighted


def grade(case):
    return weighted(case, right=lambda: exact(case.text("answer.txt"), case.reference("none.txt")))
