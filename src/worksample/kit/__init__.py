"""The kit for authors of `grade.py`: the case, readers, modes of comparison, and compositions.

A mode returns a `Check` (a share of 1 and a reason), a composition returns a `Grade`. See docs/reference/kit.md. A
grader loads only the modules that it uses.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
