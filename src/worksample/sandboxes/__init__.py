"""The kinds of boxes that ship: `bubblewrap`, `docker`, and plain subprocesses (`none`). `worksample.box` opens them by
name.

`provider` puts Inspect's sandbox interface over a box.
"""

from __future__ import annotations

from worksample.sandboxes.sweep import sweep

from .requirements import Availability, available, need_box

__all__ = ["Availability", "available", "need_box", "sweep"]
