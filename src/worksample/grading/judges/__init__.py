"""Judge models as evaluators of rubric, holistic and pairwise rounds."""

from .by_judge import ByJudge, judges_for
from .material import Render
from .spending import charge

__all__ = ["ByJudge", "Render", "charge", "judges_for"]
