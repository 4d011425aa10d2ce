"""What a program finds in jobs before people look at them: files, dead references, candidates for identifiers."""

from .job import JobLook, Looking, look_at_jobs

__all__ = ["JobLook", "Looking", "look_at_jobs"]
