"""Advice on who should do the jobs of a list, based on the experiments in a store."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
