"""Process 1 of a Docker container that is a box: connects to the platform and then works as the exec server."""

# pathlib and contextlib would add a third to the start-up time of a box.

from __future__ import annotations

import _socket
import os

from .exec_server import serve

LINE = "/run/worksample/line"
"""Path in the container of a folder of the host. The folder contains the socket at which the platform listens, and the
file for messages.
"""


def main() -> None:
    """Connect to the platform and serve as process 1 of a box."""
    said = os.open(f"{LINE}/said", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.dup2(said, 1)
    os.dup2(said, 2)
    own = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    own.connect(f"{LINE}/socket")
    serve(own)
