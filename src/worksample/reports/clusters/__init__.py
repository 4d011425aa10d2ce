"""Clusters of similar criteria, and how often agents fail the criteria of each cluster."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
