"""Definition of agents: makes an Agent record from what a user requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from worksample import __version__
from worksample.ascii_names import plain_letters
from worksample.errors import PlanError
from worksample.files.config_files import Faults, nearest
from worksample.files.config_files import validate as told
from worksample.records import Agent

from .agent_folder_cache import keep_files, keep_folder
from .agent_script import read_script
from .harness_settings import (
    CommandSettings,
    HumanSettings,
    ObjectSettings,
    ProgramSettings,
    ReflectSettings,
    ScriptedSettings,
    Settings,
    WorkerSettings,
)
from .published_presets import PRESETS
from .python_objects import settings_with_source

HARNESSES: Mapping[str, type[Settings]] = {
    "scripted": ScriptedSettings,
    "worker": WorkerSettings,
    "plan-act-reflect": ReflectSettings,
    "command": CommandSettings,
    "object": ObjectSettings,
    "person": HumanSettings,
}
HUMAN = "person"
"""Name of the harness that stands for people who do the work of trials or hand in work."""
NEEDS_MODEL = frozenset({"worker", "plan-act-reflect"})
OWN = frozenset({"scripted", "worker", "plan-act-reflect"})
"""Names of the harnesses that this package implements."""
REPLAY = "script/replay"
"""Name of the default model of a scripted agent. This model answers from the script."""


def harness_names() -> tuple[str, ...]:
    """Return the names of all harnesses: those of this package, and those of programs that can be installed."""
    from .installing.program_registry import program_names

    return (*(name for name in HARNESSES if name != HUMAN), *program_names())


def person_agent() -> Agent:
    """Return the agent that stands for people in an arm. It does not say which person takes an assignment."""
    return Agent.of("human", HUMAN, settings=HumanSettings().model_dump(mode="json"))


def settings_of(harness: str) -> type[Settings] | None:
    """Return the class of a harness's settings; None if the harness does not exist."""
    if harness in HARNESSES:
        return HARNESSES[harness]
    from .installing.program_registry import find_program

    return ProgramSettings if find_program(harness) else None


def version_of(agent: Agent) -> str:
    """Return the version of an agent's software.

    For an installed program, this is the version of the program. For a harness of this package, it is the version of
    the package. For other software it is a digest of all settings, and for a person "unknown".
    """
    if agent.harness == HUMAN:
        return "unknown"
    if agent.harness in OWN:
        return __version__
    return str(agent.settings.get("version") or agent.id.partition("@")[2] or "unknown")


def is_program(harness: str) -> bool:
    """Return whether the harness runs a program in the box that calls its model itself."""
    return issubclass(settings_of(harness) or Settings, CommandSettings)


def define(
    name: str | None = None,
    *,
    harness: str | None = None,
    model: str | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    script: str | Path | None = None,
    folder: str | Path | None = None,
    files: Sequence[str | Path] = (),
    capabilities: tuple[str, ...] = (),
    release_date: date | None = None,
) -> Agent:
    """Define an agent. Every setting becomes part of the record, so that the agent's id identifies exactly who worked.

    A preset provides a missing harness and missing settings. `script` is the folder of scripts of a `scripted` agent;
    the content of the scripts becomes part of the record. `folder` is the folder (or file) with the program of a
    `command` agent; `files` are single files instead. They are copied into the cache and identified by their digest.

    Raises PlanError if a harness, preset or setting is unknown, or if the model, script, folder or a file is missing.
    Raises ManifestError if a script is invalid.
    """
    harness, model = check_named(harness=harness, preset=preset, model=model)
    given: dict[str, Any] = dict(settings or {})
    if preset is not None:
        given = _merge(PRESETS[preset].settings, given)
    if harness == "scripted":
        if script is None and not given.get("script"):
            raise PlanError(
                "a scripted agent needs its scripts", next="--script FOLDER (see docs/how-to/choose-an-agent.md)"
            )
        if script is not None:
            given["script"] = read_script(Path(script)).plain()
    elif script is not None:
        raise PlanError(f"harness {harness} takes no script", next="--agent scripted")
    if folder is not None or files:
        given |= _own_files(harness, folder, [Path(one) for one in files])
    if settings_of(harness) is ProgramSettings:
        from .installing.program_settings import resolve_settings

        given = resolve_settings(harness, given)
    full = validate_settings(harness, settings_with_source(given) if harness == "object" else given)
    return Agent.of(
        name or _name(preset or harness, model, script),
        harness,
        model=model,
        settings=full.model_dump(mode="json"),
        capabilities=capabilities or (PRESETS[preset].capabilities if preset is not None else ()),
        release_date=release_date,
    )


def _own_files(harness: str, folder: str | Path | None, files: Sequence[Path]) -> dict[str, str]:
    """Store the folder or the files of a `command` agent, and return the settings that name them."""
    if harness != "command":
        raise PlanError(
            f"harness {harness} takes no files of its own", next='harness = "command", which runs a program in the box'
        )
    if folder is not None and files:
        raise PlanError("an agent has either `folder` or `files`", next="move the files into the folder")
    if folder is not None:
        return {"folder": Path(folder).name, "folder_digest": keep_folder(Path(folder))}
    return {"folder": ", ".join(one.name for one in files), "folder_digest": keep_files(files)}


def check_named(*, harness: str | None, preset: str | None, model: str | None) -> tuple[str, str | None]:
    """Return the harness and the model of an agent. No file is read. Raises PlanError if the preset or the harness is
    unknown, or if the agent needs a model and none is given.
    """
    if preset is not None:
        if preset not in PRESETS:
            raise PlanError(
                f"no preset is called {preset!r}{nearest(preset, PRESETS)}; there are: {', '.join(PRESETS)}",
                next="--agent with one of these names",
            )
        harness = harness or PRESETS[preset].harness
    if harness == HUMAN:
        raise PlanError(
            "a person cannot be chosen with --agent", next='an arm with worker = "human" in the experiment file'
        )
    if harness is None or settings_of(harness) is None:
        near = nearest(harness or "", (*harness_names(), *PRESETS))
        raise PlanError(
            f"no harness is called {harness!r}{near}; there are: {', '.join(harness_names())}",
            next="--agent worker --model PROVIDER/MODEL",
        )
    return harness, _model(harness, model)


def validate_settings(harness: str, settings: Mapping[str, Any]) -> Settings:
    """Validate the settings of a harness. Raises PlanError, which names every wrong key and the allowed values."""
    cls = settings_of(harness)
    if cls is None:
        raise PlanError(f"no harness is called {harness!r}", next=f"one of {', '.join(harness_names())}")
    faults = Faults()
    found = told(cls, dict(settings), faults, file="settings")
    if found is None or faults.found:
        raise PlanError(
            "; ".join(map(str, faults.found)),
            where=f"agent with harness {harness}",
            next="docs/how-to/choose-an-agent.md has the settings of each harness",
        )
    return found


def _model(harness: str, model: str | None) -> str | None:
    needs = harness in NEEDS_MODEL or harness not in HARNESSES
    if needs and not model:
        raise PlanError(f"harness {harness} needs a model", next="--model PROVIDER/MODEL")
    if harness == "scripted":
        model = model or REPLAY
        if not model.startswith("script/"):
            raise PlanError(
                f"a scripted agent calls no model, so {model!r} cannot be its model",
                next="leave out --model, or give a name that starts with script/",
            )
    return model


def _name(what: str, model: str | None, script: str | Path | None) -> str:
    import re

    if script is not None:
        text = Path(script).name
    elif model:
        text = f"{what}-{model.rsplit('/', 1)[-1]}"
    else:
        text = what
    return re.sub(r"[^a-z0-9._-]+", "-", plain_letters(text).lower()).strip("-._")[:100] or what


def _merge(base: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the values of `given`, which take precedence. Tables are merged key by key."""
    out = dict(base)
    for key, value in given.items():
        old = out.get(key)
        out[key] = _merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return out
