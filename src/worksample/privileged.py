"""What to type for a command that only root may run."""

from __future__ import annotations

import os
import shlex
import shutil


def root_command(line: str) -> str:
    """Return `line` as this user types it: as it is for root, else by sudo, or by su if there is no sudo."""
    if os.geteuid() == 0:
        return line
    return f"sudo {line}" if shutil.which("sudo") else f"su -c {shlex.quote(line)}"
