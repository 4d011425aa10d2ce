"""The process that reads untrusted input. Its arguments are its caller, and its limits in seconds and bytes.

A request consists of the length of a pickled head (function, further arguments), the head, the length of the data, and
the data. The answer is a length, and a pickled pair of kind and value. The process ends with its caller, or after a
time without requests.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import resource
import select
import signal
import sys
from typing import Any

from worksample.errors import ForeignInputError
from worksample.files.untrusted.reader_pool import LENGTH

IDLE = 120.0
"""Seconds without requests after which the process ends; the caller starts another one if needed."""
PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answer requests until the input ends. SIGPROF ends the process if a request takes too long."""
    caller, seconds, memory = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) or os.getppid() != caller:
        sys.exit(1)
    into, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of other code must not mix with the answers
    while select.select([into], [], [], IDLE)[0] and len(size := into.read(LENGTH.size)) == LENGTH.size:
        function, more = pickle.loads(into.read(LENGTH.unpack(size)[0]))
        data = into.read(LENGTH.unpack(into.read(LENGTH.size))[0])
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = _answer(function, data, more)
        del data
        signal.setitimer(signal.ITIMER_PROF, 0)
        out.write(LENGTH.pack(len(answer)) + answer)
        out.flush()


def load(data: bytes, module: str) -> None:
    """Import a module in advance."""
    importlib.import_module(module)


def _answer(function: str, data: bytes, more: tuple[Any, ...]) -> bytes:
    module, _, name = function.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
        return pickle.dumps(("done", found(data, *more)))
    except ForeignInputError as error:
        return pickle.dumps(("refused", (error.what, error.too_large)))
    except MemoryError:
        return pickle.dumps(("refused", ("reading it takes more memory than there is for it", True)))
    except Exception as error:  # noqa: BLE001 - the boundary of the process: a failure of ours is told, never lost
        return pickle.dumps(("failed", f"{type(error).__name__}: {error}"[:1000]))


if __name__ == "__main__":
    main()
