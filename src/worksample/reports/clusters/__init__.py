"""Clusters of criteria, and the clusters on which agents fail."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
