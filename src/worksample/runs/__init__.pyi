from .config import RunConfig as RunConfig
from .follow_up_slots import More as More
from .limits import limits_of as limits_of
from .scores import write_scores as write_scores
from .slots import run_slots as run_slots
