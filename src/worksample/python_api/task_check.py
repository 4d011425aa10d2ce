"""`check`: check a task package before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .event_loops import call, call_async
from .stores_and_packages import task as read

if TYPE_CHECKING:
    from worksample.audit import AuditConfig, Report
    from worksample.tasks import Package


def check(task: str | Path | Package, config: AuditConfig | None = None) -> Report:
    """Grade control submissions of a task twice and look for leaks (docs/how-to/check-a-task.md).

    - `task="my-task"`: the folder of a task package, or a `worksample.task`.
    - `config=AuditConfig(parallel=4)`: how it is checked.

    The report has `passed`, `findings` and `graded`.
    """
    return call(lambda stop: _check(task, config))


async def check_async(task: str | Path | Package, config: AuditConfig | None = None) -> Report:
    """Check as `check` does, with the same arguments; for code that runs in an event loop."""
    return await call_async(lambda stop: _check(task, config))


def _check(task: str | Path | Package, config: AuditConfig | None) -> Report:
    from worksample import audit

    return audit.check(read(task) if isinstance(task, str | Path) else task, config)
