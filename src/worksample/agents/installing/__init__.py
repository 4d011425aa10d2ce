"""Installation of agents that are programs. Each version is installed once, named by its digest, and mounted read-only
in boxes.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
