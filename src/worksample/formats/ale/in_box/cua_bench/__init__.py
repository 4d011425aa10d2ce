"""A stand-in for the module with which ALE's packages declare their tasks. It exists only in boxes.

It holds the names that packages use: a record for a task, three decorators, and a class for annotations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .computers.base import DesktopSession

__all__ = ["DesktopSession", "Task", "evaluate_task", "setup_task", "tasks_config"]

Function = TypeVar("Function", bound=Callable[..., Any])


class TaskElement:
    """An instance: the text for the agent, and values for `start` and `evaluate`."""

    def __init__(
        self, description: str = "", metadata: dict[str, Any] | None = None, computer: dict[str, Any] | None = None,
        **others: Any,
    ) -> None:  # fmt: skip
        self.description = description
        self.metadata = {} if metadata is None else metadata
        self.computer = {} if computer is None else computer
        for name, value in others.items():
            setattr(self, name, value)


Task = TaskElement
"""The name by which packages call it."""


def _decorator(role: str) -> Callable[..., Any]:
    def decorate(*given: Any, **settings: Any) -> Any:
        def mark(function: Function) -> Function:
            function.ale_role = role  # type: ignore[attr-defined]
            return function

        return mark(given[0]) if given and callable(given[0]) else mark

    return decorate


tasks_config = _decorator("load")
setup_task = _decorator("start")
evaluate_task = _decorator("evaluate")
