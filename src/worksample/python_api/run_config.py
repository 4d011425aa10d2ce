"""Build an experiment's configuration from a caller's arguments."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.errors import UsageError

from .stores_and_packages import place_of

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig

TASK_FILE = "task.toml"
CALL = "the call"
"""The `where` of errors about an argument."""
TABLES = ("limits", "prices", "services", "people", "judges")


def config_of(tasks: Any, agent: Any, file: str | Path | None, settings: Mapping[str, Any]) -> ExperimentConfig:
    """Return the configuration: `settings` are keys of an experiment file and override those of `file`.

    Raises UsageError for arguments that are neither task nor agent, and ManifestError that names a wrong key.
    """
    from worksample.experiments.config_file import load

    given = {key: value for key, value in settings.items() if value is not None}
    _need_tables(given)
    if "store" in given:
        given["store"] = place_of(given["store"])
    models = _as_list(given.pop("model", None))
    if tasks is not None:
        given |= _work_of(tasks)
    if agent is not None:
        given["agents"] = [table for one in _as_list(agent) for table in _agents(one, models)]
    elif models:
        given["models"] = models
    return load(None if file is None else Path(file), given, called=CALL)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _work_of(tasks: Any) -> dict[str, Any]:
    """Return the suite, or the folders of task packages, that `tasks` refers to."""
    from worksample.tasks import Package

    if isinstance(tasks, str | Path) and not (Path(tasks) / TASK_FILE).is_file():
        return {"suite": str(tasks)}
    named = _as_list(tasks)
    for one in named:
        if not isinstance(one, str | Path | Package):
            raise UsageError(
                f"{type(one).__name__} is not a task", next="a suite's name, a folder, or worksample.task()"
            )
    return {"tasks": [str(one.root if isinstance(one, Package) else one) for one in named]}


def _agents(agent: Any, models: Sequence[str]) -> list[dict[str, Any]]:
    """Return the tables of an agent, one with each model."""
    from worksample.experiments.config import AgentConfig
    from worksample.experiments.config_file import agent_from_flag

    if isinstance(agent, AgentConfig):
        agent = agent.model_dump(mode="json", exclude_none=True)
    if isinstance(agent, str):
        agent = agent_from_flag(agent)
    elif not isinstance(agent, Mapping):
        return _objects(agent, models)
    return [{**agent, "model": model} for model in models] or [dict(agent)]


def _objects(value: Any, models: Sequence[str]) -> list[dict[str, Any]]:
    """Return the tables of a solver, an agent of Inspect's or an async function, which is passed on as an object."""
    from worksample.agents.python_objects import is_async, is_inspects, offer, short_name
    from worksample.experiments.config_file import name_of

    if not callable(value) or not (is_async(value) or is_inspects(value)):
        what = f"{short_name(value)} is not async" if callable(value) else f"{type(value).__name__} is not an agent"
        raise UsageError(
            what,
            next="a harness's name, a table, a solver or agent of Inspect's, or an async function of one Assignment",
        )
    if not is_inspects(value):
        _need_assignment(value, short_name(value))
    name, settings = short_name(value), offer(value)
    table = {"harness": "object", "settings": settings}
    several = len(models) > 1
    return [
        {**table, "name": name_of(f"{name}-{model.rsplit('/', 1)[-1]}" if several else name), "model": model}
        for model in models
    ] or [{**table, "name": name_of(name)}]


def _need_assignment(function: Any, name: str) -> None:
    """Raise UsageError for a function that does not take one Assignment: every trial would fail."""
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        raise UsageError(
            f"{name} cannot be called with an Assignment as its only argument: {error}",
            next=f"async def {name}(work: worksample.Assignment)",
        ) from None
    except ValueError:
        return  # a builtin without a signature


def _need_tables(given: Mapping[str, Any]) -> None:
    """Raise UsageError for a value that must be a table, and for a misspelt `model`."""
    from worksample.experiments.config import ExperimentConfig

    for key, value in given.items():
        if key in TABLES and not isinstance(value, Mapping):
            raise UsageError(
                f"{key} is {value!r}, not a table", where=CALL, next=f"{key}={{...}} (docs/reference/settings.md)"
            )
        if key not in ExperimentConfig.model_fields and key != "model" and difflib.get_close_matches(key, ["model"]):
            raise UsageError(f"worksample.run has no argument {key}", where=CALL, next=f"model={value!r}")
