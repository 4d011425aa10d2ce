"""Mounts of a Docker container, changed to be equal to those of a bubblewrap box. All folders exist, nothing
unrequested is mounted, and read-only mounts include everything below them.
"""

# pathlib and contextlib would add a third to the start-up time of a box.
# ruff: noqa: PTH103

from __future__ import annotations

import os

from . import system_calls

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from typing import Any


def furnish_container(container: dict[str, Any]) -> None:
    """Prepare the mounts of the container, so that `boot` can finish the box."""
    kept, shown = container["kept"], container["shown"]
    for path in reversed(_mounts()):  # the topmost mount was mounted last
        ours = path in kept or any(path.startswith(f"{place}/") for place in shown)
        if not ours or path in container["theirs"]:
            system_calls.unmount(path)
    for path in container["folders"]:
        os.makedirs(path, 0o755, exist_ok=True)
    for path in _mounts():  # a daemon does not set the flags that bubblewrap sets for each mount and those below it
        above = [place for place in shown if path == place or path.startswith(f"{place}/")]
        if above:
            flags = os.statvfs(path).f_flag & 0xE | system_calls.MS_NOSUID | system_calls.MS_NODEV
            if max(above, key=len) in container["readonly"]:
                flags |= system_calls.MS_RDONLY
            system_calls.mount("none", path, None, system_calls.MS_REMOUNT | system_calls.MS_BIND | flags)
    for path in container["masked"]:
        flags = system_calls.MS_RDONLY | system_calls.MS_NOSUID | system_calls.MS_NODEV
        system_calls.mount("masked", path, "tmpfs", flags, "mode=0755")


def _mounts() -> list[str]:
    """Return every mount point except the root, in the order in which they were mounted."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
        found = [line.split(" ")[4] for line in file]
    return [_unescape(path) for path in found if path != "/"]


def _unescape(path: str) -> str:
    """Return a path in which the kernel's octal escapes are replaced by the characters that they stand for."""
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(code, sign)
    return path
