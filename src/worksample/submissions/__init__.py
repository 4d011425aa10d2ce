"""What an agent, a person or a control left behind, taken in as parts of a submission."""

from .capture import Captured, CaptureLimits, capture, snapshot, take
from .controls import KINDS, control, control_case
from .hand_in import hand_in, look_at, refuse_ahead
from .root_changes import NAME as ROOT_LAYER
from .root_changes import add_to_layer

__all__ = [
    "KINDS",
    "ROOT_LAYER",
    "CaptureLimits",
    "Captured",
    "add_to_layer",
    "capture",
    "control",
    "control_case",
    "hand_in",
    "look_at",
    "refuse_ahead",
    "snapshot",
    "take",
]
