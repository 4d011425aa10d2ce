"""What an agent, a person or a control left behind, taken in as parts of a submission."""

from .capture import Captured, CaptureLimits, capture, snapshot, take
from .controls import KINDS, control, control_case
from .hand_in import hand_in, look_at

__all__ = [
    "KINDS",
    "CaptureLimits",
    "Captured",
    "capture",
    "control",
    "control_case",
    "hand_in",
    "look_at",
    "snapshot",
    "take",
]
