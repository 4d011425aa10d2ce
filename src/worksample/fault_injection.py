"""Failpoints: named places in the program at which a test or an operator can make the platform fail.

`WORKSAMPLE_FAULT="close.commit:kill"` kills the process without warning when it reaches the failpoint `close.commit`.
In place of `kill`, `stop` stops the process until SIGCONT, like a paused machine; `raise` raises a RuntimeError, `full`
a StoreFull, and `lost` a SandboxError. A number selects the n-th time that the process reaches the failpoint:
`close.commit:kill:3`. Commas separate several faults. The variable is read once.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter

from worksample.errors import SandboxError, StoreFull, UsageError

VARIABLE = "WORKSAMPLE_FAULT"
KINDS = ("kill", "raise", "full", "lost")
STOP = "stop"
POINTS = (
    "close.begin",
    "close.captured",
    "close.trajectory",
    "close.commit",
    "store.object",
    "close.committed",
    "grade.begin",
    "grade.graded",
    "grade.commit",
    "grade.committed",
)
"""Failpoints of a trial and its grading, in order."""
OF_CHAINS = ("chain.decided", "chain.committed", "chain.carried")
"""Failpoints of chains: the next step is decided, its slots are committed, the unchanged work is resubmitted."""
OF_EXPORTS = ("export.state", "export.listed")
"""Failpoints of an export to a folder: the state is copied, its list is written."""
OF_IMPORTS = ("import.package",)
"""Failpoints of an import of tables: a job's package is written, and no record yet."""
OF_PEOPLE = ("people.said",)
"""Failpoints of judging by people: an answer is stored, and its queue not updated yet."""
OF_COLLEAGUES = ("colleague.answer",)
"""Failpoints of colleagues in a chat: one is about to answer a message."""
OF_FOLDERS = ("report.page", "folder.written", "folder.swapped")
"""Failpoints of a report's folder: before each page, after all are written, after the new folder replaced the old one.
"""

_lock = threading.Lock()
_reached: Counter[str] = Counter()
_faults: dict[tuple[str, int], str] | None = None


def failpoint(point: str) -> None:
    """Mark the place `point` in the program, and fail at it if the variable asks for a fault. Without the variable it
    costs nothing.
    """
    global _faults  # noqa: PLW0603 - the variable is read once, when the first point is reached
    if _faults is None:
        _faults = _read(os.environ.get(VARIABLE, ""))
    if not _faults:
        return
    with _lock:
        _reached[point] += 1
        kind = _faults.get((point, _reached[point]))
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == STOP:
        os.kill(os.getpid(), signal.SIGSTOP)
    elif kind == "full":
        raise StoreFull(f"no space left on the disk (simulated by {VARIABLE})", where=point, next=f"unset {VARIABLE}")
    elif kind == "lost":
        raise SandboxError(f"the box is lost (simulated by {VARIABLE})", where=point, next=f"unset {VARIABLE}")
    elif kind == "raise":
        raise RuntimeError(f"a failure at {point} (simulated by {VARIABLE})")


def _read(text: str) -> dict[tuple[str, int], str]:
    faults, points = {}, POINTS + OF_CHAINS + OF_EXPORTS + OF_IMPORTS + OF_PEOPLE + OF_COLLEAGUES + OF_FOLDERS
    for item in filter(None, text.split(",")):
        point, _, rest = item.partition(":")
        kind, _, number = rest.partition(":")
        if point not in points or kind not in (*KINDS, STOP) or not (number or "1").isdigit():
            raise UsageError(
                f"{VARIABLE} has {item!r}; write POINT:KIND or POINT:KIND:N with points {', '.join(points)} "
                f"and kinds {', '.join((*KINDS, STOP))}",
                next=f"unset {VARIABLE}",
            )
        faults[point, int(number or 1)] = kind
    return faults
