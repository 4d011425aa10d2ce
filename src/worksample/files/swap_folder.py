"""Atomic replacement of a folder: after a kill, either the old or the new folder is complete, never a mixture."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from worksample.fault_injection import failpoint
from worksample.files.machine import MachineRelation, machine_id, relation_to

_UNFINISHED = ".unfinished"
"""Name of the marker file in a draft that is being written."""
_EXCHANGE = 2
"""The flag RENAME_EXCHANGE of renameat2(2)."""


@contextmanager
def replace_folder(out: Path) -> Iterator[Path]:
    """Yield a draft folder next to `out`, which replaces `out` in one step after everything is written.

    Files of `out` that the draft lacks are carried over. Drafts of killed processes are removed. A folder is written in
    place if it cannot be exchanged: if it contains the current directory, is a mount point, or has a read-only parent.
    """
    out = Path(os.path.realpath(out))
    draft = _draft_beside(out)
    if draft is None:
        out.mkdir(parents=True, exist_ok=True)
        yield out
        return
    lock = os.open(draft, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (draft / _UNFINISHED).touch()
        try:
            yield draft
        except BaseException:
            shutil.rmtree(draft)
            raise
        failpoint("folder.written")
        (draft / _UNFINISHED).unlink()
        _take_place(draft, out)
        failpoint("folder.swapped")
        for left in _drafts_beside(out):
            _clear(left, out)
    finally:
        os.close(lock)


def _draft_beside(out: Path) -> Path | None:
    if os.path.lexists(out) and not out.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(out))
    here = Path.cwd()
    if here == out or out in here.parents or os.path.ismount(out):
        return None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # the error names the file in the way, which the user did not ask for
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(out)) from None
    for left in _drafts_beside(out):
        _clear(left, out)
    draft = out.parent / f"{_prefix(out)}{os.getpid()}-{machine_id()}"
    try:
        draft.mkdir()
    except PermissionError:
        return None
    if out.exists():
        shutil.copymode(out, draft)
    return draft


def _prefix(out: Path) -> str:
    return f".{out.name}.draft-"


def _drafts_beside(out: Path) -> list[Path]:
    return sorted(p for p in out.parent.iterdir() if p.name.startswith(_prefix(out)))


def _clear(left: Path, out: Path) -> None:
    """Remove a draft whose writer is gone; from a replaced folder, carry over the files that `out` lacks.

    A draft of another machine stays: that machine's lock may be invisible here.
    """
    _, _, machine = left.name.rpartition(".draft-")[2].partition("-")
    try:
        if machine and relation_to(machine, left.stat().st_mtime) is MachineRelation.ELSEWHERE:
            return
        lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not (left / _UNFINISHED).exists():
            _carry_over(left, out)
        shutil.rmtree(left)
    except BlockingIOError:
        return  # another process is writing it
    finally:
        os.close(lock)


def _carry_over(old: Path, new: Path) -> None:
    new.mkdir(exist_ok=True)
    for entry in sorted(old.iterdir()):
        there = new / entry.name
        if not os.path.lexists(there):
            entry.rename(there)
        elif entry.is_dir() and there.is_dir() and not (entry.is_symlink() or there.is_symlink()):
            _carry_over(entry, there)


def _take_place(draft: Path, out: Path) -> None:
    if not os.path.lexists(out):
        draft.rename(out)
        return
    if not _try_exchange(draft, out):
        # Without an exchange, the folder is missing for a moment; after a kill, the next command carries the files
        # over.
        out.rename(draft.with_name(f"{draft.name}-old"))
        draft.rename(out)


def _try_exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step. Return whether the system could do so."""
    with suppress(AttributeError):  # a C library without renameat2
        call = ctypes.CDLL(None, use_errno=True).renameat2
        at = -100  # AT_FDCWD
        if call(at, os.fsencode(one), at, os.fsencode(other), _EXCHANGE) == 0:
            return True
        code = ctypes.get_errno()
        if code not in (errno.EINVAL, errno.ENOSYS, errno.EXDEV):
            raise OSError(code, os.strerror(code), os.fspath(other))
    return False
