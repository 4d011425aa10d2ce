from .judge_evaluator import ByJudge as ByJudge
from .judge_evaluator import judges_for as judges_for
from .material import Render as Render
from .spending import charge as charge
