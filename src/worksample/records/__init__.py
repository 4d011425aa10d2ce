"""The records of the platform, from task and trial to submission, evaluation and verdict. Records are frozen data;
their methods only compute values.

Each name is imported on first use, so that a grader process starts quickly.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
