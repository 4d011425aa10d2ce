"""Judge models as evaluators of rubric, holistic and pairwise rounds."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
