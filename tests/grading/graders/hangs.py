"""Runs a program that hangs, again and again, for longer than the grader itself has."""

from worksample.kit import Case, Expect, Grade, checklist, executable


def grade(case: Case) -> Grade:
    hung = [Expect(stdout="1")] * 5
    return checklist(case, right=lambda: executable(case, ["sleep", "100"], hung, timeout=1))
