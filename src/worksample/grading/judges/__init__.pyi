from .by_judge import ByJudge as ByJudge
from .by_judge import judges_for as judges_for
from .material import Render as Render
from .spending import charge as charge
