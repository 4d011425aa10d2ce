"""Reader of experiment files. It makes a checked configuration from a TOML or YAML file and the flags of the command
line.

A flag takes precedence over the file, and the file takes precedence over the defaults. A flag that the user did not
give is absent, so that no default of the command line replaces a value of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from worksample.ascii_names import plain_letters
from worksample.errors import ManifestError
from worksample.files.config_files import (
    WHOLE,
    Fault,
    Faults,
    FaultyManifest,
    need_file,
    read_toml,
    read_yaml,
    show_value,
    validate,
)
from worksample.models import JudgeConfig, Price
from worksample.models.service_config import ServiceConfig
from worksample.records import Experiment, Frozen

from .config import AgentConfig, ExperimentConfig

M = TypeVar("M", bound=BaseModel)

COMMAND_LINE = "command line"
KEYS = "correct it and try again; docs/reference/settings.md has all keys and what they allow"


def read_table(path: Path) -> dict[str, Any]:
    """Read a `.toml`, `.yaml` or `.yml` file. Raises ManifestError if the file cannot be parsed."""
    faults = Faults()
    if path.suffix not in (".toml", ".yaml", ".yml"):
        raise ManifestError(
            "the name of an experiment file must end in .toml, .yaml or .yml",
            where=str(path),
            next="worksample run FILE.toml, or --suite NAME, or --task FOLDER",
        )
    need_file(path)
    read = read_toml if path.suffix == ".toml" else read_yaml
    document = read(path, path.name, faults)
    faults.check(str(path), KEYS)
    return document.data


def _validate(model: type[M], table: Any, where: str, file: str) -> M:
    faults = Faults()
    found = validate(model, table, faults, file=file)
    if found is None or faults.found:
        said = faults.found if "." in file else [_flag_fault(fault) for fault in faults.found]
        raise FaultyManifest(said, where=where, next=KEYS)
    return found


def _flag_fault(fault: Fault) -> Fault:
    """Return a copy of a fault that names the flag as the place of the wrong value, instead of the file."""
    return replace(fault, problem=fault.problem.replace(f"is not a key of {WHOLE}", "is not an argument"))


def load(
    file: Path | None = None, flags: Mapping[str, Any] | None = None, *, called: str = COMMAND_LINE
) -> ExperimentConfig:
    """Load a configuration from `file` (if given) and `flags`, which take precedence over the file.

    The keys of `flags` are keys of ExperimentConfig, and `model` for the model of all agents. Relative paths in the
    file start from the file's folder. Relative paths in flags start from the working directory. Raises ManifestError,
    which names the file and the key; for a wrong flag it names `called`, the origin of the flags.
    """
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    data = _with_absolute_paths(read_table(file), file.parent) if file else {}
    table = merge(data, _with_absolute_paths(given, Path()))
    if "name" not in table:
        table["name"] = name_of(file.stem if file else _by_content(table))
    return _validate(ExperimentConfig, table, str(file or called), file.name if file else called)


def check_names(config: ExperimentConfig) -> None:
    """Check that the named suite, folders and agents exist, before any task is read. Raises PlanError or ManifestError
    if one does not.
    """
    from worksample.agents.agent_definition import check_named
    from worksample.tasks import find_suite

    for agent in config.agents:
        check_named(harness=agent.harness, preset=agent.preset, model=agent.model)
    if config.suite:
        find_suite(config.suite)
    for folder in config.tasks:
        if not Path(folder).exists():
            raise ManifestError("there is no such folder", where=folder, next="worksample task new FOLDER")


class JudgingConfig(Frozen):
    """Settings for calling judges: the part of an experiment's configuration that judging needs."""

    judges: dict[str, JudgeConfig] = {}
    prices: dict[str, Price] = {}
    services: dict[str, ServiceConfig] = {}


def judging_config(file: Path) -> JudgingConfig:
    """Read only the tables `[judges]`, `[prices]` and `[services]` of a file. Raises ManifestError, which names the
    fault.
    """
    return _validate(JudgingConfig, read_table(file), str(file), file.name)


def config_of_experiment(experiment: Experiment, flags: Mapping[str, Any]) -> ExperimentConfig:
    """Return the configuration of a planned experiment. Values in `flags` replace its judges, prices and services.

    Raises ManifestError, which names the fault.
    """
    table = {**experiment.settings, **_judging(experiment.settings, flags)}
    return _validate(ExperimentConfig, table, COMMAND_LINE, COMMAND_LINE)


def judging_of(experiment: Experiment | None, flags: Mapping[str, Any]) -> JudgingConfig:
    """Return the settings for calling judges, for an experiment or (None) for work outside experiments. Raises
    ManifestError if a setting is invalid.
    """
    return _validate(JudgingConfig, _judging(experiment.settings if experiment else {}, flags), COMMAND_LINE, "flags")


def _judging(settings: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    base = {key: dict(settings[key]) for key in JudgingConfig.model_fields if key in settings}
    judges = base.get("judges", {})
    over = {name: {**_mapping(judges.get(name)), **table} for name, table in flags.get("judges", {}).items()}
    table = merge(base, {key: value for key, value in flags.items() if key != "judges"})
    return {**table, "judges": {**judges, **over}}


def merge(data: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return `data` with the values of `flags`, which take precedence.

    Limits, prices and services are merged by key. A `suite` or `tasks` in `flags` replaces both of these keys. A model
    or script in `flags` is set for all agents.
    """
    table = dict(data)
    given = dict(flags)
    if "suite" in given or "tasks" in given:
        table.pop("suite", None)
        table.pop("tasks", None)
    limits = {k: v for k, v in dict(given.pop("limits", {})).items() if v is not None}
    models = given.pop("models", None)
    script = given.pop("script", None)
    prices = given.pop("prices", None)
    services = given.pop("services", None)
    if "protocols" in given:
        table.pop("protocol", None)
    people = given.pop("people", None)
    table |= given
    if people:
        base = table.get("people", {})
        table["people"] = {**(base if isinstance(base, Mapping) else {}), **people}
    if prices:
        base = table.get("prices", {})
        table["prices"] = {**(base if isinstance(base, Mapping) else {}), **prices}
    if services:
        base = table.get("services", {})
        table["services"] = _services_over(base if isinstance(base, Mapping) else {}, services)
    if limits:
        base = table.get("limits", {})
        table["limits"] = {**(base if isinstance(base, Mapping) else {}), **limits}
    agents = table.get("agents")
    if isinstance(agents, list | tuple):
        if models:
            agents = [{**_table(a), "model": m} for a in agents for m in models]
        if script is not None:
            agents = [{**_table(a), "script": script} for a in agents]
        table["agents"] = agents
    return table


def _services_over(base: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return service settings with the values of `flags`, which take precedence. A flag for all models changes every
    entry of the file. A flag for one model changes only the entry of this model.
    """
    base = {
        **base,
        **{name: {**_mapping(base.get(name)), **_mapping(one)} for name, one in flags.items() if name != "*"},
    }
    said = _mapping(flags.get("*"))
    args = said.pop("args", {})
    out = {}
    for name in dict.fromkeys([*base, *(["*"] if "*" in flags else [])]):
        entry = _mapping(base.get(name))
        out[name] = {**entry, **said, **({"args": {**_mapping(entry.get("args")), **args}} if args else {})}
    return out


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _table(agent: Any) -> dict[str, Any]:
    return dict(agent) if isinstance(agent, Mapping) else {"harness": agent}


def _with_absolute_paths(data: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return a file's data with absolute paths instead of paths relative to the folder `base`."""
    table = dict(data)
    if isinstance(table.get("tasks"), list | tuple):
        table["tasks"] = [_path(t, base) for t in table["tasks"]]
    if isinstance(table.get("files"), list | tuple):
        table["files"] = [_path(one, base) for one in table["files"]]
    for key in ("store", "script", "folder"):
        if key in table:
            table[key] = _path(table[key], base)
    if isinstance(table.get("suite"), str) and looks_like_path(table["suite"], base):
        table["suite"] = _path(table["suite"], base)
    if isinstance(table.get("agents"), list | tuple):
        table["agents"] = [_with_absolute_paths(a, base) if isinstance(a, Mapping) else a for a in table["agents"]]
    return table


def looks_like_path(text: str, base: Path = Path()) -> bool:
    """Return whether a text is a path, instead of a URL or the name of something that Worksample ships."""
    if "://" in text:
        return False
    return "/" in text or text.startswith(".") or text.endswith((".toml", ".yaml", ".yml")) or _is_there(base / text)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # such as a name that is too long for a file
        return False


def _path(value: Any, base: Path) -> Any:
    if not isinstance(value, str) or "://" in value:
        return value
    try:
        return str((base / Path(value).expanduser()).resolve())
    except (OSError, ValueError, RuntimeError) as error:
        raise ManifestError(f"{show_value(value)} is not a path", where=str(base), next=KEYS) from error


def agent_from_flag(text: str) -> dict[str, Any]:
    """Parse the value of `--agent`: a file with one agent's table, a preset or a harness. Raises ManifestError if the
    file is invalid.
    """
    path = Path(text)
    if path.suffix in (".toml", ".yaml", ".yml"):
        table = _with_absolute_paths(read_table(path), path.parent)
        _validate(AgentConfig, table, str(path), path.name)
        return table
    from worksample.agents.published_presets import PRESETS

    return {"preset": text} if text in PRESETS else {"harness": text}


def name_of(text: str) -> str:
    """Convert free text to a valid name of an experiment or agent."""
    name = re.sub(r"[^a-z0-9._-]+", "-", plain_letters(text).lower()).strip("-._")[:100]
    return name or "experiment"


def _by_content(table: Mapping[str, Any]) -> str:
    tasks = [Path(str(t)).name for t in table.get("tasks") or ()]
    what = Path(str(table["suite"])).name if table.get("suite") else "-".join(tasks[:2]) or "experiment"
    agents = [_table(a) for a in table.get("agents") or ()]
    return "-".join([what, *dict.fromkeys(_agent_kind(agent) for agent in agents[:3])])


def _agent_kind(agent: Mapping[str, Any]) -> str:
    """Return an agent's name. If it has no name, return its preset or harness together with its model, so that
    experiments with different models get different names.
    """
    if agent.get("name"):
        return str(agent["name"])
    model = str(agent.get("model") or "").rsplit("/", 1)[-1]
    return "-".join(filter(None, [str(agent.get("preset") or agent.get("harness") or "agent"), model]))
