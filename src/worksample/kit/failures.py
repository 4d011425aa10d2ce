"""What a grader may raise: whose fault it is that a submission cannot be graded."""

from worksample.errors import DeliverableError, GraderError, ReferenceUnreadable

__all__ = ["DeliverableError", "GraderError", "ReferenceUnreadable"]
