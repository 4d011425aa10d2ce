"""Import of the public packages of Agents' Last Exam (ALE) from a user's own checkout."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
