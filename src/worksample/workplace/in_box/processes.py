"""Processes of services. Each service is started as a program or forked, in a process group of its own. Functions wait
for all processes of a group.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable


def spawn(argv: list[str], env: dict[str, str]) -> int:
    """Start a program in a new process group and return its process id."""
    return subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, start_new_session=True).pid


def fork_worker(work: Callable[[], object]) -> int:
    """Run a function in a forked process, which shares everything that this process has loaded. Return its process
    id.
    """
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        work()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - the last thing that a forked process can say
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    finally:
        os._exit(code)


def wait_for_group(group: int) -> None:
    """Wait until the last process of a group has exited. The child processes of a service exit shortly after the
    service and may write files until then.

    Orphaned processes become children of this process.
    """
    while True:
        try:
            os.waitpid(-group, 0)
        except ChildProcessError:
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.001)
