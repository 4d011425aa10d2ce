"""Landlock: this process and its children may open only some files (Linux 5.13 and newer, without any right)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path
from struct import Struct

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES = 38
_VERSION = 1
_PATH_BENEATH = 1
_EXECUTE, _READ_FILE, _READ_FOLDER = 1, 4, 8
_ALL = (1 << 13) - 1
"""Every right over files of Landlock's first version: reading, writing, making and removing."""
_RULE = Struct("=Qi")


def allow_only(paths: Iterable[Path], writable: Iterable[Path] = ()) -> bool:
    """Let this process open only files at or below `paths`, for reading, and at or below `writable`, from now on.

    Returns False, without any effect, if the kernel has no Landlock. Paths that do not exist are left out.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION) < 1:
        return False
    attribute = ctypes.c_uint64(_ALL)
    ruleset = libc.syscall(_CREATE, ctypes.byref(attribute), ctypes.c_size_t(8), 0)
    if ruleset < 0:
        return False
    try:
        for path in paths:
            _add(libc, ruleset, path, _READ_FILE | (_EXECUTE | _READ_FOLDER if path.is_dir() else 0))
        for path in writable:
            _add(libc, ruleset, path, _ALL)
        return bool(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _add(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = ctypes.create_string_buffer(_RULE.pack(rights, place), _RULE.size)
        libc.syscall(_ADD, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(place)
