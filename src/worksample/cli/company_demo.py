"""`worksample demo company`: what this machine needs for it, the study, and the page that shows the work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.output import printable

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig
    from worksample.store import Store

SUITE, TASK, AGENT = "quaymark", "adm-desktops", "jules"
SERVICES = ("chat", "tracker", "files")
FONTS = "fonts-liberation"
"""Of Debian: what pages are drawn with. It comes with Chromium."""
CURL = Path("/usr/bin/curl")
"""The agent's script reads the company's files with it."""


def ready_machine(*, quiet: bool) -> None:
    """Install what lacks. MissingExtra, or SandboxUnavailable with the line to type, where that cannot be done here."""
    from worksample.extras import need
    from worksample.sandboxes.browser.chromium import lacking_packages
    from worksample.workplace.install import apt_get, install_programs
    from worksample.workplace.service_programs import missing_programs_command

    for extra in ("report", "workplace", "browser"):
        need(extra)
    brought: list[str] = []
    if packages := lacking_packages() + (() if CURL.exists() else (CURL.name,)):
        _say(f"installing {', '.join(packages)}", quiet)
        brought += apt_get((*packages, FONTS))
    if missing_programs_command(SERVICES):
        _say("installing the company's services", quiet)
        brought += install_programs(SERVICES)
    if brought:
        _say(f"installed {', '.join(brought)}", quiet)


def company_config(store: str, *, sandbox: str) -> ExperimentConfig:
    """One task of the company, done by a script that uses the browser, the shell and Python."""
    from worksample.experiments.config import AgentConfig, ExperimentConfig

    script = company_folder().parent / "scripts" / AGENT
    return ExperimentConfig(
        name="company",
        store=store,
        suite=SUITE,
        only=(TASK,),
        agents=(AgentConfig(name=AGENT, harness="scripted", script=str(script)),),
        parallel=1,
        sandbox=sandbox,
        author="demo",
    )


def company_folder() -> Path:
    """Of the company that ships."""
    from worksample.tasks import find_suite

    return find_suite(SUITE).parent / "company"


def trial_page(store: Store, experiment: str, report: Path) -> Path:
    """Where the report shows what the agent saw and what colleagues answered."""
    from worksample.reports.experiments import find_experiments
    from worksample.reports.static_site.trial_page import page_of
    from worksample.results.frame import ResultSet

    work = ResultSet(store, find_experiments(store, (experiment,)))
    pages = [page_of(row) for row in work.frame(work.primary).iter_rows(named=True)]
    return (report / next((page for page in pages if page), "index.html")).resolve()


def _say(text: str, quiet: bool) -> None:
    if not quiet:
        click.echo(printable(text), err=True)
