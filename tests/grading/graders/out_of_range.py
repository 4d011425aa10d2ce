"""Forges a grade above 1, past the record's own checks."""

from worksample.kit import Grade


def grade(case):
    return Grade.model_construct(score=7.0, parts=(), composition="", reason="")
