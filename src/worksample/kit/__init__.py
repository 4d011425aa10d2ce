"""The kit for authors of `grade.py`: the submission as a `Case`, readers of files, comparisons, and compositions.

A comparison returns a `Check`: a share from 0 to 1, with a reason. A composition returns a `Grade`. See
docs/reference/kit.md. A grader loads only the modules that it uses.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
