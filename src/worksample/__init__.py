"""Worksample gives AI agents real, paid work and measures what they deliver.

Importing this package does nothing: every public name is resolved on first use.
"""

__version__ = "0.2.0"

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
