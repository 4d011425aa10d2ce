"""A program that runs a command and kills the command with all its descendants if the program's caller exits.

The program imports nothing of the platform. Its arguments are the process id of the caller, and the command.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
NOT_FOUND = 127


def main() -> None:
    """Run the command. Exit with the command's exit status, or with 128 plus the number of the signal that killed the
    command.
    """
    caller, words = int(sys.argv[1]), sys.argv[2:]
    signal.signal(signal.SIGTERM, _on_terminate)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphaned descendants become our children
    _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != caller:
        sys.exit(1)  # the caller ended before we asked for its signal
    own = os.getpid()
    program = os.fork()
    if program == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == own:
            try:
                os.execvp(words[0], words)
            except OSError as error:
                os.write(2, f"{words[0]}: {error.strerror}\n".encode())
        os._exit(NOT_FOUND)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == program:
            _end_all()
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _on_terminate(number: int, frame: FrameType | None) -> None:
    _end_all()
    os._exit(128 + number)


def _end_all() -> None:
    """Kill all descendants of this process repeatedly until none is left, because a descendant may start others
    meanwhile.
    """
    while below := _descendants():
        for pid in below:
            with suppress(ProcessLookupError):  # the id cannot have been reused: we reap our children
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _descendants() -> list[int]:
    """Return the process ids of this process's children and all their descendants, without processes that have
    exited.
    """
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - nothing of the library is loaded
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            state, parent = file.read().rpartition(b")")[2].split()[:2]
            if state not in (b"Z", b"X") or int(parent) == os.getpid():
                children.setdefault(int(parent), []).append(int(name))
    found = list(children.get(os.getpid(), ()))
    for pid in found:
        found += children.get(pid, ())
    return found


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        sys.exit(f"prctl {option}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main()
