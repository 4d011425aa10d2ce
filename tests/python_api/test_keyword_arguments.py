"""Typed keyword arguments match the functions, the experiment file and the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

import worksample as ws
from worksample.cli.lazy_group import root
from worksample.errors import UsageError, WorksampleError
from worksample.experiments.config import ExperimentConfig
from worksample.experiments.config_file import JudgingConfig
from worksample.experiments.hand_in import HandInRequest
from worksample.python_api.experiment_run import options_of

JUDGING = set(JudgingConfig.model_fields)
FLAGS = {
    "agents": "agent", "models": "model", "limit_time": "limits", "limit_cost": "limits", "limit_tokens": "limits",
    "limit_steps": "limits", "pay": "people", "unsandboxed": "sandbox", "base_url": "services",
    "model_args": "services", "connections": "services", "model_retries": "services", "answer_timeout": "services",
    "request_timeout": "services",
}  # fmt: skip
"""Parameter of a command -> the argument that stands for it in Python, if it has another name."""
COMMAND_LINE_ONLY = {"as_json", "dry_run", "expect", "pilot", "table", "protocol_note"}


def arguments(function: Callable[..., Any], typed: type) -> set[str]:
    """The names that a function takes: its own parameters and those of its TypedDict."""
    own = {name for name, one in inspect.signature(function).parameters.items() if one.kind is not one.VAR_KEYWORD}
    return own | set(typed.__annotations__)


def flags(verb: str) -> set[str]:
    """The parameters of a command, under their names in Python."""
    command = root().get_command(click.Context(click.Command("worksample")), verb)
    assert command is not None
    names = {str(one.name) for one in command.params} - COMMAND_LINE_ONLY
    return {FLAGS.get(name, name) for name in names}


def test_run_takes_every_key_of_an_experiment_file() -> None:
    assert set(ws.RunSettings.__annotations__) | {"tasks"} == {*ExperimentConfig.model_fields, "model", "script"}


def test_resume_takes_what_a_planned_experiment_can_change() -> None:
    own = set(inspect.signature(options_of).parameters) - {"config"}
    assert set(ws.ResumeOptions.__annotations__) == own | JUDGING


def test_submit_takes_every_fact_of_a_request() -> None:
    own = {"path", "task", "entrant", "origin", "experiment"}
    assert set(ws.SubmissionFacts.__annotations__) == {one.name for one in fields(HandInRequest)} - own


@pytest.mark.parametrize(
    ("verb", "function", "typed"),
    [("run", ws.run, ws.RunSettings), ("resume", ws.resume, ws.ResumeOptions)],
)
def test_every_option_of_a_command_has_an_argument(verb: str, function: Callable[..., Any], typed: type) -> None:
    assert flags(verb) - arguments(function, typed) == set()


@pytest.mark.parametrize(
    ("function", "typed"),
    [(ws.run, ws.RunSettings), (ws.resume, ws.ResumeOptions), (ws.grade, ws.GradeOptions),
     (ws.submit, ws.SubmissionFacts)],
)  # fmt: skip
def test_every_argument_is_documented_with_an_example(function: Callable[..., Any], typed: type) -> None:
    text = inspect.getdoc(function) or ""
    assert [name for name in arguments(function, typed) if f"`{name}=" not in text] == []


def test_wrong_name_is_refused_and_type_checkers_see_it(tmp_path: Path) -> None:
    """mypy fails on a `type: ignore` that nothing needs: each of these is an error for it."""
    with pytest.raises(WorksampleError, match="paralel"):
        ws.run("starter", "worker", store=tmp_path, paralel=2)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="resume has no option 'paralel'"):
        ws.resume("first", store=tmp_path, paralel=2)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="submit has no option 'minute'"):
        ws.submit(tmp_path, tmp_path, entrant="ann", minute=3)  # type: ignore[call-arg]
    with pytest.raises(WorksampleError, match="repeats"):
        ws.run("starter", "worker", store=tmp_path, repeats="three")  # type: ignore[arg-type]
