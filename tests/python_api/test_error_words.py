"""Errors in the reader's terms: options on the command line, arguments in Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import worksample
from worksample.errors import PlanError
from worksample.experiments.config import ExperimentConfig
from worksample.option_name_translation import SETTINGS, with_python_arguments

OF_COMMANDS_ALONE = {"instance", "pilot", "repeat", "submission"}
"""Options of commands that no function of the library is."""
SOURCE = Path(worksample.__file__).parent
SAID = {
    "leave some out with --only": "leave some out with only=[...]",
    "no limit of cost (--limit-cost)": 'no limit of cost (limits={"cost": ...})',
    "--agent worker --model PROVIDER/MODEL": 'agent="worker", model="PROVIDER/MODEL"',
    "choose with --judged-by combined, people": 'choose with judged_by="combined", people',
    "use --sandbox bubblewrap, which needs no root": 'use sandbox="bubblewrap", which needs no root',
    "another address: --base-url": 'another address: services={"MODEL": {"base_url": ...}}',
    "to run without asking: --no-check-models": "to run without asking: check_models=False",
    "--price m/x=INPUT,OUTPUT in dollars": 'prices={"MODEL": {"input": ..., "output": ...}} in dollars',
    "worksample run --suite starter --agent worker": 'worksample.run(tasks="starter", agent="worker")',
    "worksample run FILE.toml, or --suite NAME": 'worksample.run(file="FILE.toml"), or tasks="NAME"',
    "worksample resume first, or another --name": 'worksample.resume("first"), or another name=...',
    "worksample task check my-task": 'worksample.check("my-task")',
    "worksample grade EXPERIMENT --protocol pairwise": 'worksample.grade("EXPERIMENT", protocol="pairwise")',
    "worksample report first --out report": 'worksample.report("first", out="report")',
    "worksample list": "worksample.open_store().find(worksample.Experiment)",
    "worksample list --store results": 'worksample.open_store("results").find(worksample.Experiment)',
    "worksample list --handed-in": "worksample list --handed-in",
    "worksample store check": "worksample store check",
    "worksample run makes a new one": "worksample run makes a new one",
    "worksample run --task DIR --dry-run": "worksample run --task DIR --dry-run",
    "pip install --upgrade worksample": "pip install --upgrade worksample",
}


@pytest.mark.parametrize("said", SAID)
def test_option_becomes_an_argument_in_python(said: str) -> None:
    assert with_python_arguments(said) == SAID[said]
    error = PlanError("it cannot be run", next=said)
    assert str(error) == f"it cannot be run\n  next: {SAID[said]}"
    assert error.next == said, "the command line shows it as it is"


def test_arguments_are_keys_of_an_experiment_or_of_a_call() -> None:
    of_calls = {"agent", "model", "expect", "experiment", "encoding", "where", "script"}
    for form in SETTINGS.values():
        assert form.partition("=")[0] in {*ExperimentConfig.model_fields, *of_calls}


def test_options_named_by_library_errors_have_an_argument() -> None:
    """Of the modules that plan and run, which a call from Python reaches."""
    named = set()
    for folder in ("experiments", "verdicts", "models"):
        for path in (SOURCE / folder).rglob("*.py"):
            for text in re.findall(r'next=f?"([^"]*)"', path.read_text(encoding="utf-8")):
                if not text.startswith(("worksample ", "pip ", "the same command")):
                    named |= set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text.partition("worksample ")[0]))
    assert named - OF_COMMANDS_ALONE <= set(SETTINGS)


def test_call_errors_name_arguments() -> None:
    with pytest.raises(PlanError) as refused:
        worksample.run("tests/suites/tiny", "no such agent")
    assert str(refused.value).endswith('next: agent="worker", model="PROVIDER/MODEL"')
