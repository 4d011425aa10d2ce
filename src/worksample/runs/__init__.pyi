from .follow_up_slots import FollowUpSlots as FollowUpSlots
from .inspect_scores import write_scores as write_scores
from .limits import limits_of as limits_of
from .run_config import RunConfig as RunConfig
from .slot_run import run_slots as run_slots
