from .judge_evaluator import JudgeEvaluator as JudgeEvaluator
from .judge_evaluator import judges_for as judges_for
from .judge_material import Render as Render
from .spending import charge_earlier_spending as charge_earlier_spending
