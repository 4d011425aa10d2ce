"""Run as a program: do a piece of work in a process of its own, kill it after some time, begin the next platform, and
say what still runs.

    python -m experiments.killed.supervisor KIND FOLDER URL WORD SECONDS

Whoever loses his parent below this process becomes its child: nobody hides.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from experiments.killed.piece import work
from worksample.box import BoxConfig
from worksample.sandboxes import open_box

PATIENCE = 600.0
"""Seconds after which a process is taken to live for good."""
PR_SET_CHILD_SUBREAPER = 36


def forked(act: Callable[[], None]) -> int:
    """A process that does this and ends; its number."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            act()
            code = 0
        except BaseException:  # noqa: BLE001 - the process ends here
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return pid


def killed(pid: int, seconds: float) -> int:
    """What it ended with, at the latest by a kill after so long."""
    handle = os.pidfd_open(pid)
    select.select([handle], [], [], seconds)
    os.kill(pid, signal.SIGKILL)
    os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def begin_next(kind: str) -> None:
    """The next platform: whatever it does, it opens a box."""

    async def opened() -> None:
        async with open_box(BoxConfig(), kind=kind if kind in ("docker", "none") else "bubblewrap"):
            pass

    pid = forked(lambda: asyncio.run(opened()))
    assert os.waitpid(pid, 0)[1] == 0


def living() -> list[str]:
    """What descends from us and is no mere zombie; those are reaped."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if one.status() != psutil.STATUS_ZOMBIE:
                found.append(f"process {one.pid} {' '.join(one.cmdline())[:300]}")
                continue
        with suppress(ChildProcessError):
            os.waitpid(one.pid, os.WNOHANG)
    return found


def main() -> None:
    """See the module."""
    kind, folder, url, word, seconds = sys.argv[1:6]
    sys.path.insert(0, f"{folder}/harness")
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    ready, go = os.pipe()
    pid = forked(lambda: work(kind, Path(folder), url, word, lambda: os.write(go, b".")))
    os.close(go)
    os.read(ready, 1)
    began = time.monotonic()
    code = killed(pid, float(seconds))
    took = time.monotonic() - began
    begin_next(kind)
    until = time.monotonic() + PATIENCE
    while (left := living()) and time.monotonic() < until:
        time.sleep(0.02)
    print(json.dumps({"pid": pid, "code": code, "took": took, "left": left}))


if __name__ == "__main__":
    main()
