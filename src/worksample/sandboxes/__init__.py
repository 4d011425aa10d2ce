"""The kinds of boxes that ship: `bubblewrap`, and plain subprocesses (`none`). `worksample.box` opens them by name.

`provider` puts Inspect's sandbox interface over a box.
"""

from __future__ import annotations

from worksample.sandboxes.available import Availability, available
from worksample.sandboxes.sweep import sweep

__all__ = ["Availability", "available", "sweep"]
