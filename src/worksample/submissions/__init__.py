"""What an agent, a person or a control left behind, taken in as parts of a submission."""

from .capture import Captured, CaptureLimits, capture, snapshot, take
from .collecting import COLLECTED
from .controls import KINDS, control, control_case
from .hand_in import hand_in, look_at, refuse_ahead
from .root_changes import NAME as ROOT_LAYER
from .root_changes import add_to_layer
from .steps import ABORTED, STEPS, Steps, of_step, step_views
from .steps import OUTPUT as STEP_OUTPUT
from .steps import TOLD as STEPS_TOLD

__all__ = [
    "ABORTED",
    "COLLECTED",
    "KINDS",
    "ROOT_LAYER",
    "STEPS",
    "STEPS_TOLD",
    "STEP_OUTPUT",
    "CaptureLimits",
    "Captured",
    "Steps",
    "add_to_layer",
    "capture",
    "control",
    "control_case",
    "hand_in",
    "look_at",
    "of_step",
    "refuse_ahead",
    "snapshot",
    "step_views",
    "take",
]
