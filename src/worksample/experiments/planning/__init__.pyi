from .experiment_plan import Plan as Plan
from .experiment_plan import PlanInputs as PlanInputs
from .experiment_plan import plan as plan
from .plan_forecast import Forecast as Forecast
from .plan_preparation import commit_plan as commit_plan
from .plan_preparation import prepare as prepare
