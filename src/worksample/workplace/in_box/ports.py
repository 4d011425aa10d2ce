"""Addresses of the services: the ports of the front door, and the ports and sockets behind the front door. Also a test
whether a program listens at an address.
"""

from __future__ import annotations

import socket
from pathlib import Path

RUN = Path("/tmp/workplace")
PUBLIC = {"chat": 3000, "tracker": 8091, "files": 8092, "git": 8929, "calendar": 5232}
BEHIND = {"chat": 5280, "files": 3923, "calendar": 15232}
SOCKETS = {"tracker": RUN / "tracker.sock", "git": RUN / "git.sock", "dialects": RUN / "dialects.sock"}
DIALECTS = {"gitlab": "git", "owncloud": "files", "plane": "tracker", "rocketchat": "chat"}
"""Dialect (the API of another product) -> service that the dialect uses."""


def connects(place: int | Path) -> bool:
    """Return whether a program listens at a port or Unix socket."""
    family = socket.AF_INET if isinstance(place, int) else socket.AF_UNIX
    with socket.socket(family) as one:
        try:
            one.connect(("127.0.0.1", place) if isinstance(place, int) else str(place))
        except OSError:
            return False
    return True
