"""The box, as everything sees it: where agents work, graders run and untrusted files are opened.

`Box` is the interface (files in, commands, streams, files out, limits); `open_box` gives one of an installed kind.
`conformance` is what every kind has to do. `worksample.sandboxes` holds the kinds that ship.
"""

from __future__ import annotations

from .config import BoxConfig, BoxLimits, Endpoint, Mount, Root, is_host_name
from .interface import Box, Completed, Connection, Ended, Listener, Process, Reader, Writer
from .opening import kinds, open_box, start_box
from .timeout import FairTimeout, Timeout

__all__ = [
    "Box",
    "BoxConfig",
    "BoxLimits",
    "Completed",
    "Connection",
    "Ended",
    "Endpoint",
    "FairTimeout",
    "Listener",
    "Mount",
    "Process",
    "Reader",
    "Root",
    "Timeout",
    "Writer",
    "is_host_name",
    "kinds",
    "open_box",
    "start_box",
]
