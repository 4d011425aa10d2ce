"""Python objects that work as agents: solvers and agents of Inspect, and async functions.

A record has names and digests of objects, and never code. An object is found by its name `module:name`, or among the
objects that were registered in this process by `offer`. It is used only if its source code has not changed.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from worksample.errors import PlanError
from worksample.records import digest_bytes

_OFFERED: dict[tuple[str, str], Any] = {}
"""Objects that were registered in this process, by the name and the digest of their source."""


def offer(value: Any) -> dict[str, Any]:
    """Register an object and return the settings that name it.

    Only this process can find the object, unless the object belongs to a module that can be imported.
    """
    name, source = name_of(value), source_of(value)
    _OFFERED[name, source] = value
    return {"object": name, "source": source, "args": parameters_of(value)}


def settings_with_source(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the digest of the object's source added, if they only name the object."""
    given = dict(settings)
    name = given.get("object")
    if isinstance(name, str) and not given.get("source"):
        given["source"] = source_of(_import_object(name))
    return given


def find_object(name: str, source: str) -> Any:
    """Return the object with this name and source. Raises PlanError if the object does not exist, or if its source has
    changed.
    """
    if (name, source) in _OFFERED:
        return _OFFERED[name, source]
    value = _import_object(name)
    if source_of(value) != source:
        raise PlanError(
            f"the code of {name} has changed since the run was planned",
            where=f"agent {name}",
            next="start a new run: changed code is another agent",
        )
    return value


def make_agent(value: Any, args: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the agent that an object stands for. An async object is the agent itself; any other object is called with
    `args` and returns the agent. Raises PlanError if the result is not an agent.
    """
    if is_async(value):
        return value  # type: ignore[no-any-return]
    try:
        result = value(**args)
    except TypeError as error:
        raise PlanError(
            f"{name_of(value)} cannot be called to create the agent: {error}", next="check args in the agent's settings"
        ) from error
    if not is_async(result):
        raise PlanError(
            f"{name_of(value)} returned {type(result).__name__}, which is not an agent, solver or async function",
            next="give an Inspect agent or solver, or an async function",
        )
    return result  # type: ignore[no-any-return]


def is_async(value: Any) -> bool:
    """Return whether a call of the object returns an awaitable. This holds for an async function and for an object with
    an async `__call__`.
    """
    return inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(getattr(value, "__call__", None))  # noqa: B004


def is_inspects(value: Any) -> bool:
    """Return whether the object is a solver or an agent of Inspect, or a function that returns one."""
    from inspect_ai._util.registry import is_registry_object, registry_info

    return is_registry_object(value) and registry_info(value).type in ("solver", "agent")


def name_of(value: Any) -> str:
    """Return the name `module:name` of a function or class. For a solver or agent that a factory of Inspect made,
    return its registered name.
    """
    from inspect_ai._util.registry import is_registry_object, registry_info

    if is_registry_object(value) and is_async(value):
        return str(registry_info(value).name)
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}:{named.__qualname__}"


def short_name(value: Any) -> str:
    """Return the last part of an object's name, for reports."""
    return name_of(value).replace(":", "/").rsplit("/", 1)[-1].rsplit(".", 1)[-1]


def parameters_of(value: Any) -> dict[str, Any]:
    """Return the arguments with which an Inspect object was created, as JSON types. They are part of the agent's
    identity.
    """
    from inspect_ai._util.registry import is_registry_object, registry_params

    if not (is_registry_object(value) and is_async(value)):
        return {}
    return {key: _plain_value(one) for key, one in sorted(registry_params(value).items())}


def source_of(value: Any) -> str:
    """Return the digest of the source of a function or class. If it has no source, as in an interactive session, return
    the digest of its code.
    """
    target = inspect.unwrap(value if hasattr(value, "__qualname__") else type(value))
    try:
        text = textwrap.dedent(inspect.getsource(target))
    except (OSError, TypeError):
        code = getattr(target, "__code__", None)
        text = repr((code.co_code, code.co_names, code.co_consts)) if code else name_of(value)
    return digest_bytes(text.encode())


def _plain_value(value: Any) -> Any:
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, list | tuple):
        return [_plain_value(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): _plain_value(one) for key, one in value.items()}
    return getattr(value, "name", None) or getattr(value, "__qualname__", None) or type(value).__name__


def _import_object(name: str) -> Any:
    module, sign, path = name.partition(":")
    if not (module and sign and path):
        raise PlanError(
            f"the agent {name} was passed as a Python object, which only the process that started the run has",
            next="call worksample.run with it again, or name it as module:name",
        )
    try:
        value: Any = import_module(module)
        for part in path.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        raise PlanError(
            f"the agent {name} cannot be imported: {error}",
            next="call worksample.run with it again, or install the module that holds it",
        ) from error
    return value
