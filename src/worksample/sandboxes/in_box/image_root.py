"""The switch of a box to the root file system of an image. The new root is an overlay of the image's files, whose upper
layer is the box's tmpfs of limited size.

An image is untrusted, and so are the links in it. So no path in the image is looked up before the image is the root.
From then on, links cannot lead out of the image. The exec server uses only modules that it has loaded before the
switch.
"""

# pathlib and contextlib would add a third to the start-up time of a box.
# ruff: noqa: PTH101, PTH102, PTH106, PTH108, PTH112, PTH114, PTH120

from __future__ import annotations

import os
import sys

from . import system_calls

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from typing import Any

ROOT = "/.root"
OLD = "/.old"
"""Path of the original root until the new root has all its mounts."""


def enter_root(image: dict[str, Any], stage: str, uid: int, gid: int, root: bool) -> str:
    """Make the overlay of the image the root. Return the new path of `stage`. `uid` and `gid` own the files that the
    overlay creates.
    """
    for name in ("upper", "work"):
        os.mkdir(f"{stage}/{name}", 0o755)
        os.chown(f"{stage}/{name}", uid, gid)
    more = "redirect_dir=nofollow,metacopy=off,index=off" if root else "userxattr"
    layers = f"lowerdir={image['lower']},upperdir={stage}/upper,workdir={stage}/work"
    system_calls.mount("image", ROOT, "overlay", system_calls.MS_NOSUID | system_calls.MS_NODEV, f"{layers},{more}")
    for name in ("proc", "dev", OLD[1:]):
        _folder(f"{ROOT}/{name}")
    for path in ("/proc", "/dev"):
        system_calls.mount(path, ROOT + path, None, system_calls.MS_MOVE)
    # From here on, an import would load a module of the image.
    sys.path.clear()
    sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "__name__", "") in _OWN_FINDERS]
    os.chdir(ROOT)
    system_calls.pivot_root(ROOT, ROOT + OLD)
    os.chdir("/")
    return OLD + stage


_OWN_FINDERS = ("BuiltinImporter", "FrozenImporter")


def furnish_root(image: dict[str, Any], places: list[tuple[str, str, int]], uid: int, gid: int) -> None:
    """Mount the folders and files of the box into its new root, and unmount the old root.

    `places` contains the source, target and mode of each writable folder. The folders on the way to a mount become
    mounts, too. A plain folder could be moved away together with the mount inside it, and be replaced.
    """
    for source, _, mode in places:
        os.mkdir(source)
        os.chown(source, uid, gid)
        os.chmod(source, mode)
    pinned: set[str] = {"/dev"}
    for source, target in [
        *((place[0], place[1]) for place in places),
        *((OLD + first, target) for first, target in image["mounts"]),
    ]:
        if os.path.isdir(source):
            _make(target, 0, 0)
        else:
            _make(os.path.dirname(target), 0, 0)
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
        _pin(target, pinned)
        system_calls.mount(source, target, None, system_calls.MS_BIND | system_calls.MS_REC)
    for path in image["made"]:
        _make(path, uid, gid)
    _folder("/etc")
    _pin("/etc/hosts", pinned)
    for name in image["etc"]:
        target = f"/etc/{name}"
        if os.path.lexists(target):
            os.unlink(target)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
        system_calls.mount(f"{OLD}/run/worksample/{name}", target, None, system_calls.MS_BIND)
        system_calls.read_only(target)
    system_calls.unmount(OLD)
    os.rmdir(OLD)


def _folder(path: str) -> None:
    """Create a real folder at the path. Replace a link or file that the image has at this path."""
    try:
        os.mkdir(path)
    except FileExistsError:
        if not os.path.isdir(path) or os.path.islink(path):
            os.unlink(path)
            os.mkdir(path)


def _make(path: str, uid: int, gid: int) -> None:
    """Create a folder and its missing parents. The created folders belong to the given user."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for path in reversed(missing):
        os.mkdir(path, 0o755)
        os.chown(path, uid, gid)


def _pin(target: str, pinned: set[str]) -> None:
    """Turn the folders above a mount into mounts. Folders in `pinned` already are mounts and are skipped."""
    parts = target.split("/")
    for depth in range(2, len(parts)):
        above = "/".join(parts[:depth])
        if above not in pinned:
            pinned.add(above)
            system_calls.mount(above, above, None, system_calls.MS_BIND | system_calls.MS_REC)
