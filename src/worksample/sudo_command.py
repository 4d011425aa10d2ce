"""The command line for a command that only root may run."""

from __future__ import annotations

import os
import shlex
import shutil


def root_command(line: str) -> str:
    """Return the command `line` for this user: unchanged for root, with sudo for others, or with su if sudo is
    missing.
    """
    if os.geteuid() == 0:
        return line
    return f"sudo {line}" if shutil.which("sudo") else f"su -c {shlex.quote(line)}"
