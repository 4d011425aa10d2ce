"""Grading: rounds, evaluators, graders in boxes, regrades, and the differences between two rounds."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
