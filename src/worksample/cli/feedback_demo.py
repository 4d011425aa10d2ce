"""The study of `worksample demo feedback`: jobs from a table, experts who qualify them and judge, two arms."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worksample.formats.jobs.filters import UPBENCH

from .qualification_demo import qualify_jobs

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig

NAMED = re.compile(r'"([^"]+)"')
SITTINGS = 3
"""As often as its chains have attempts."""


def feedback_config(store: str, *, parallel: int, sandbox: str, quiet: bool) -> ExperimentConfig:
    """Take the jobs in beside the store, have them qualified, and read the study."""
    from worksample.app.judging.scripted_experts import ManualClock
    from worksample.experiments.loading import load
    from worksample.formats.jobs import ImportJobs, import_jobs
    from worksample.people.clock import wall

    here = Path(str(files("worksample").joinpath("suites", "feedback")))
    jobs, fit = Path(store).parent / "jobs", Path(store).parent / "fit"
    import_jobs(here / "jobs.csv", jobs, ImportJobs(visibility="public", filters=UPBENCH, missing=True))
    found = qualify_jobs(jobs, fit, store, ManualClock(wall()), sandbox)
    if not quiet:
        click.echo("experts qualified jobs through the app:", err=True)
        for step, many in found.steps:
            click.echo(f"  {step}: {many}", err=True)
    flags = {"suite": str(fit / "suite.toml"), "store": store, "parallel": parallel, "sandbox": sandbox}
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
    from worksample.app.judging.scripted_experts import ManualClock, ScriptedExperts
    from worksample.cli.output import open_store
    from worksample.cli.show_run import Tone, run_config
    from worksample.people.clock import wall

    clock, code = ManualClock(wall()), 0
    for _ in range(SITTINGS):
        code = run_config(config, Tone(quiet=True, hints=False))
        if code > 3:
            return code
        with open_store(config.store) as opened:
            answers = ScriptedExperts(opened, answer, clock).judge()
        if not quiet:
            click.echo(f"experts gave {answers} answers through the app", err=True)
    return run_config(config, Tone(quiet=quiet, hints=False))
