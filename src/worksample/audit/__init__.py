"""Audits of a task before its use: control submissions, cases, leaks, mismatched names, repeatability."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
