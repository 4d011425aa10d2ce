"""Who works: harnesses, presets, and what an agent is shown."""

from .build import (
    build,
    check_agent,
    logs_of,
    mounts_of,
    observed_by,
    takes_browser,
    takes_mcp,
    takes_sse,
    works_in_images,
)
from .define import HARNESSES, define, harnesses, is_program
from .presets import PRESETS, Preset
from .script import Script, Step, read_script, read_steps

__all__ = [
    "HARNESSES",
    "PRESETS",
    "Preset",
    "Script",
    "Step",
    "build",
    "check_agent",
    "define",
    "harnesses",
    "is_program",
    "logs_of",
    "mounts_of",
    "observed_by",
    "read_script",
    "read_steps",
    "takes_browser",
    "takes_mcp",
    "takes_sse",
    "works_in_images",
]
