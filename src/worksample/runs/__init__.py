"""Runs: one trial, from its sandbox to the closed submission, and many trials as one Inspect eval per agent."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
