"""Advice for a firm's own list of jobs: AI, AI with people, people, or not enough data."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
