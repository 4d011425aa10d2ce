from .experiment_plan import Plan as Plan
from .experiment_plan import PlanInputs as PlanInputs
from .experiment_plan import plan as plan
from .forecast import Forecast as Forecast
from .preparation import commit_plan as commit_plan
from .preparation import prepare as prepare
