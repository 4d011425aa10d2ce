"""What a task's author imports in `grade.py`: the case, readers, modes of comparison, and compositions.

Modes give a `Check` (a share of 1 and a reason), compositions give a `Grade`. See docs/kit.md. A grader imports
what it uses, and starts without the rest.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
