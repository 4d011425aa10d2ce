"""The kinds of boxes that ship: `bubblewrap`, and plain subprocesses (`none`). `worksample.box` opens them by name.

`provider` puts Inspect's sandbox interface over a box.
"""

from __future__ import annotations

from worksample.sandboxes.sweep import sweep

from .requirements import Availability, available

__all__ = ["Availability", "available", "sweep"]
