"""Errors that a grader may raise. Each class says who is to blame if a submission cannot be graded."""

from worksample.errors import DeliverableError, GraderError, ReferenceUnreadable

__all__ = ["DeliverableError", "GraderError", "ReferenceUnreadable"]
