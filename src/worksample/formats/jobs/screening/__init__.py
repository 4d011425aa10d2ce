"""Screening of jobs by a program before people see them: files, dead references, candidates for identifiers."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
