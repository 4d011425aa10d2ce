"""Named places where a test, or an operator who wants to see what happens, makes the platform fail. A test double.

`WORKSAMPLE_FAULT="close.commit:kill"` ends the process without any warning when it reaches the point `close.commit`;
`stop` has it stand still there until it is sent SIGCONT, as a paused machine does;
`raise` raises a RuntimeError there, `full` a StoreFull, `lost` a SandboxError. A number makes it the n-th time the
point is reached: `close.commit:kill:3`. Several are separated by commas. The variable is read once.
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
"""Points of a trial and its grading, in the order in which they are reached."""
OF_CHAINS = ("chain.decided", "chain.committed", "chain.carried")
"""Points of a look at the chains: what comes next is known, its slots are there, the same work is handed in again."""
OF_EXPORTS = ("export.state", "export.listed")
"""Points of an export to a folder: the state is copied, its list is written."""
OF_IMPORTS = ("import.package",)
"""Points of an import of tables: a job's package is written, and no record yet."""
OF_PEOPLE = ("people.said",)
"""Points of judging by people: an answer is kept, and its queue does not know yet."""
OF_COLLEAGUES = ("colleague.answer",)
"""Points of colleagues in a chat: one is to answer a message."""
OF_FOLDERS = ("report.page", "folder.written", "folder.swapped")
"""Points of a report's folder: before each of its pages, once all is written, once it stands in the old one's place."""

_lock = threading.Lock()
_reached: Counter[str] = Counter()
_faults: dict[tuple[str, int], str] | None = None


def failpoint(point: str) -> None:
    """Say that `point` is reached; what was asked for happens. Costs nothing where nothing was."""
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
        raise StoreFull(f"no space left, as {VARIABLE} says", where=point)
    elif kind == "lost":
        raise SandboxError(f"the box is lost, as {VARIABLE} says", where=point)
    elif kind == "raise":
        raise RuntimeError(f"a failure at {point}, as {VARIABLE} says")


def _read(text: str) -> dict[tuple[str, int], str]:
    faults, points = {}, POINTS + OF_CHAINS + OF_EXPORTS + OF_IMPORTS + OF_PEOPLE + OF_COLLEAGUES + OF_FOLDERS
    for item in filter(None, text.split(",")):
        point, _, rest = item.partition(":")
        kind, _, number = rest.partition(":")
        if point not in points or kind not in (*KINDS, STOP) or not (number or "1").isdigit():
            raise UsageError(
                f"{VARIABLE} has {item!r}; write POINT:KIND or POINT:KIND:N with points {', '.join(points)} "
                f"and kinds {', '.join((*KINDS, STOP))}"
            )
        faults[point, int(number or 1)] = kind
    return faults
