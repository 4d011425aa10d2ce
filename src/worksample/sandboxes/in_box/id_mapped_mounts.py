"""ID-mapped mounts: they show files of the platform's user as files of the box's user.

If the platform runs as root, each box has a separate user id, which cannot enter the platform's folders of mode 0700.
An ID-mapped mount (Linux 5.12) changes the owner of files as seen through this mount only; the files on the host stay
unchanged.
"""

# pathlib would add a third to the start-up time of a box.
# ruff: noqa: PTH123

from __future__ import annotations

import os

from . import system_calls

_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE, _CLONE, _CLOEXEC, _MOVE_EMPTY = -100, 0x1000, 0x8000, 1, 0o2000000, 4
_IDMAP = 0x00100000


def mount_as_user(targets: list[str], owner: int, uid: int, gid: int) -> None:
    """Mount each target over itself so that files of the host user `owner` appear as files of `uid`:`gid`.

    If the file system of a target does not support such mounts, the target stays unchanged.
    """
    space = user_namespace(owner, uid, gid)
    try:
        for target in targets:
            tree = system_calls.call(_OPEN_TREE, _AT_FDCWD, target.encode(), _CLONE | _CLOEXEC | _AT_RECURSIVE)
            try:
                attributes = b"".join(number.to_bytes(8, "little") for number in (_IDMAP, 0, 0, space))
                system_calls.call(_MOUNT_SETATTR, tree, b"", _AT_EMPTY_PATH, attributes, len(attributes))
                system_calls.call(_MOVE_MOUNT, tree, b"", _AT_FDCWD, target.encode(), _MOVE_EMPTY)
            except OSError:
                continue
            finally:
                os.close(tree)
    finally:
        os.close(space)


def user_namespace(owner: int, uid: int, gid: int) -> int:
    """Return a descriptor of a user namespace in which the user `owner` appears as `uid`:`gid`. A short-lived child
    process creates the namespace.
    """
    ready, ready_far = os.pipe()
    done, done_far = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(done_far)
            system_calls.unshare(system_calls.CLONE_NEWUSER)
            os.write(ready_far, b".")
            os.read(done, 1)
        finally:
            os._exit(0)
    os.close(ready_far)
    os.close(done)
    try:
        os.read(ready, 1)
        for name, inside in (("uid_map", uid), ("gid_map", gid)):
            with open(f"/proc/{child}/{name}", "w", encoding="ascii") as file:
                file.write(f"{owner} {inside} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.close(done_far)
        os.waitpid(child, 0)
