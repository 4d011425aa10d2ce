"""Judging by programs: rounds, each grader in a box of its own, regrades and what they changed."""

from .changes import Change, changes
from .everything import grade_all, subjects, wants
from .grade import grade
from .place import GraderLimits
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
