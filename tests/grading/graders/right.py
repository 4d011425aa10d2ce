"""Reads the answer and compares it."""

from worksample.kit import Case, Grade, checklist, exact


def grade(case: Case) -> Grade:
    return checklist(case, right=lambda: exact(case.output("answer.txt"), case.reference("answer.txt")))
