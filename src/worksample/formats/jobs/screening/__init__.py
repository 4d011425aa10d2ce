"""Automatic screening of jobs before people review them: missing files, broken files, dead links, personal data."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
