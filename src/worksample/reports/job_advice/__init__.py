"""Advice on a list of jobs, from the experiments of a store."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
