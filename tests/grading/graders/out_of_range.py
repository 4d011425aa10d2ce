"""Forges a grade above 1, past its own checks."""

from worksample.kit import Grade


def grade(case):
    made = Grade(score=1.0)
    object.__setattr__(made, "score", 7.0)
    return made
