"""Who works: harnesses, presets, and what an agent is shown."""

from .build import build, check_agent
from .define import HARNESSES, define
from .presets import PRESETS, Preset
from .script import Script, Step, read_script

__all__ = ["HARNESSES", "PRESETS", "Preset", "Script", "Step", "build", "check_agent", "define", "read_script"]
