from .follow_up_slots import FollowUpSlots as FollowUpSlots
from .inspect_eval_run import run_slots as run_slots
from .inspect_scores import write_scores as write_scores
from .run_config import RunConfig as RunConfig
from .trial_limits import limits_of as limits_of
