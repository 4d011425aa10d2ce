"""Agents that are programs of their own: installed once by version and digest, shown to boxes read-only."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
