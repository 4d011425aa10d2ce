"""Judging by programs: rounds, each grader in a box of its own, regrades and what they changed."""

from .boxes import GraderLimits
from .changes import Change, changes
from .grade_round import grade_all, subjects, wants
from .grade_submission import grade
from .rounds import grading_in_force, open_round, regrade

__all__ = [
    "Change",
    "GraderLimits",
    "changes",
    "grade",
    "grade_all",
    "grading_in_force",
    "open_round",
    "regrade",
    "subjects",
    "wants",
]
