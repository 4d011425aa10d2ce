"""The study of `worksample demo feedback`: jobs from a table, two arms, experts who judge through the app."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig

NAMED = re.compile(r'"([^"]+)"')
SITTINGS = 3
"""As often as its chains have attempts."""


def feedback_config(store: str, *, parallel: int, sandbox: str) -> ExperimentConfig:
    """Take the jobs in beside the store, and read the study."""
    from worksample.experiments.loading import load
    from worksample.formats.jobs import ImportJobs, import_jobs

    here = Path(str(files("worksample").joinpath("suites", "feedback")))
    suite = Path(store).parent / "jobs"
    import_jobs(here / "jobs.csv", suite, ImportJobs(visibility="public"))
    flags = {"suite": str(suite / "suite.toml"), "store": store, "parallel": parallel, "sandbox": sandbox}
    return load(here / "study.toml", flags)


def answer(item: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Each criterion names a line: it is there, or the expert says which is missing."""
    lines = {line.strip() for text in texts.values() for line in text.splitlines()}
    marks, said = {}, {}
    for criterion in item["criteria"]["criteria"]:
        [line] = NAMED.findall(criterion["text"])
        marks[criterion["id"]] = "pass" if line in lines else "fail"
        if line not in lines:
            said[criterion["id"]] = f'Add the line "{line}".'
    return {"marks": marks, "feedback": said}


def run_study(config: ExperimentConfig, *, quiet: bool) -> int:
    """Run it as by days: agents work, experts judge, agents work again; returns the exit code."""
    from worksample.app.scripted_experts import PassingTime, ScriptedExperts
    from worksample.cli.output import open_store
    from worksample.cli.show_run import Tone, run_config
    from worksample.people.clock import wall

    clock, code = PassingTime(wall()), 0
    for _ in range(SITTINGS):
        code = run_config(config, Tone(quiet=True, hints=False))
        if code > 3:
            return code
        with open_store(config.store) as opened:
            answers = ScriptedExperts(opened, answer, clock).judge()
        if not quiet:
            click.echo(f"experts gave {answers} answers through the app", err=True)
    return run_config(config, Tone(quiet=quiet, hints=False))
