"""Judging: rounds, whom they ask, each grader in a box of its own, regrades and what they changed."""

from worksample.verdicts.graded import grading_in_force

from .boxes import GraderLimits
from .changes import Change, changes
from .evaluators import Answer, Asked, Evaluates, Evaluators, evaluators_of
from .grade_round import RoundWork, Task, asks_services, grade_all, subjects
from .grade_submission import evaluate, grade, lease_of
from .pending_evaluations import Place, wanted, wants
from .program import ByProgram
from .reference_solution import has_solution, solve
from .rounds import Asks, open_round, regrade
from .workplace_controls import Performed, perform

__all__ = [
    "Answer",
    "Asked",
    "Asks",
    "ByProgram",
    "Change",
    "Evaluates",
    "Evaluators",
    "GraderLimits",
    "Performed",
    "Place",
    "RoundWork",
    "Task",
    "asks_services",
    "changes",
    "evaluate",
    "evaluators_of",
    "grade",
    "grade_all",
    "grading_in_force",
    "has_solution",
    "lease_of",
    "open_round",
    "perform",
    "regrade",
    "solve",
    "subjects",
    "wanted",
    "wants",
]
