"""Boxes: where agents work, graders run and untrusted files are opened.

`Box` is the one interface (files in, commands, files out, limits); `open_box` gives one. `provider` puts Inspect's
sandbox interface over it.
"""

from __future__ import annotations

from worksample.sandboxes.available import Availability, available
from worksample.sandboxes.box import Box, Completed, open_box
from worksample.sandboxes.config import BoxConfig, BoxLimits, Mount
from worksample.sandboxes.sweep import sweep

__all__ = ["Availability", "Box", "BoxConfig", "BoxLimits", "Completed", "Mount", "available", "open_box", "sweep"]
