"""The experiments of the studies of `worksample demo`, and the programs that they need."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import click

from worksample.formats.jobs.filters import UPBENCH

from .output import printable

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig
    from worksample.people.quality.qualification_funnel import Funnel
    from worksample.store import Store

STARTER, STARTER_TIME = "starter", "5m"
"""Name of the suite of `worksample demo`, and the time limit of its trials. The scripts need only seconds, but a shown
plan contains the limit.
"""
EXAM = "exam"
EXAM_TASKS = {
    "arrays": "terrain-earthwork/yard",
    "documents": "claims-bpmn/motor",
    "maps": "management-zones/hill",
    "medical": "dicom-deidentify/group-a",
    "plans": "survey-plan/mill",
    "programs": "log-rates/shop",
    "replays": "warehouse-robot/hall",
    "scores": "clarinet-part/waltz",
    "solids": "turned-part/bushing",
    "tables": "egress-time/office",
    "toolpaths": "contour-gcode/bracket",
    "transcripts": "subtitle-retime/short",
    "values": "chain-ladder/motor",
    "workbooks": "loan-model/car",
}
"""Family of artifacts -> the instance that `worksample demo exam` runs."""
SUITE, TASK, AGENT = "quaymark", "adm-desktops", "jules"
DESKTOP = "desktop"
"""Name of the suite of `worksample demo desktop`."""
DESKTOP_PROGRAMS = {
    "/usr/lib/libreoffice/program/scalc": "libreoffice-calc",
    "/usr/lib/libreoffice/program/libvclplug_gtk3lo.so": "libreoffice-gtk3",
    "/usr/bin/inkscape": "inkscape",
    "/usr/bin/ffmpeg": "ffmpeg",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
}
"""Files that the demo of the desktop needs, with the Debian packages that bring them."""
SERVICES = ("chat", "tracker", "files", "git", "calendar")
"""All services of Quaymark, so that its other tasks can be done after the demo."""
FONTS = "fonts-liberation"
"""Debian package with the fonts for rendered pages. It is installed together with Chromium."""
CURL = Path("/usr/bin/curl")
"""Path of the program with which the agent's script reads the company's files."""


def install_demo_programs(*, quiet: bool) -> None:
    """Install the programs that the demo needs and this machine lacks.

    Raises MissingExtra if a Python package is missing. Raises SandboxUnavailable, with the command to type, if a
    program cannot be installed.
    """
    from worksample.extras import need
    from worksample.sandboxes.browser.chromium import lacking_packages
    from worksample.workplace.install import apt_get, install_programs
    from worksample.workplace.service_programs import missing_programs_command

    need("report", "workplace", "browser")
    brought: list[str] = []
    if packages := lacking_packages() + (() if CURL.exists() else (CURL.name,)):
        _say(f"installing {', '.join(packages)}", quiet)
        brought += apt_get((*packages, FONTS))
    if missing_programs_command(SERVICES):
        _say("installing the company's services", quiet)
        brought += install_programs(SERVICES)
    if brought:
        _say(f"installed {', '.join(brought)}", quiet)


def starter_config(store: str, *, parallel: int, sandbox: str, only: tuple[str, ...] = ()) -> ExperimentConfig:
    """Return the configuration of the demo's experiment: the starter suite and its scripted agents."""
    return _suite_config("demo", STARTER, store, parallel=parallel, sandbox=sandbox, only=only)


def exam_config(
    store: str, *, parallel: int, sandbox: str, quiet: bool, only: tuple[str, ...] = ()
) -> ExperimentConfig:
    """Return the configuration of the exam demo's experiment: one instance of each family of artifacts, and the exam
    suite's scripted agents.

    only: patterns of other instances of the suite to run. A task that needs a program that this machine lacks is left
    out, and the user is told. Raises MissingExtra if a
    library of the graders is not installed.
    """
    from worksample.extras import EXTRAS, need

    need(*(extra for extra in EXTRAS if extra.startswith("graders-")))
    chosen = dict(EXAM_TASKS)
    if which("soffice") is None and not only:
        _say(
            f"left out {chosen.pop('workbooks')}: LibreOffice is not installed (apt-get install libreoffice-calc)",
            quiet,
        )
    return _suite_config("exam", EXAM, store, parallel=parallel, sandbox=sandbox, only=only or tuple(chosen.values()))


def _suite_config(
    name: str, suite: str, store: str, *, parallel: int, sandbox: str, only: tuple[str, ...]
) -> ExperimentConfig:
    """Return the configuration of an experiment with a suite that ships, and a scripted agent for each folder in the
    suite's `scripts/`.
    """
    from worksample.experiments.config import AgentConfig, ExperimentConfig, LimitsConfig
    from worksample.tasks import find_suite

    folder = find_suite(suite).parent / "scripts"
    return ExperimentConfig(
        name=name,
        store=store,
        suite=suite,
        only=only,
        agents=tuple(
            AgentConfig(name=path.name, harness="scripted", script=str(path))
            for path in sorted(folder.iterdir())
            if path.is_dir()
        ),
        limits=LimitsConfig.model_validate({"time": STARTER_TIME}),
        parallel=parallel,
        sandbox=sandbox,
        author="demo",
    )


def company_config(store: str, *, sandbox: str) -> ExperimentConfig:
    """Return the configuration of the company demo's experiment. It has one task, which a scripted agent does with the
    browser, the shell and Python.
    """
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


def install_desktop_programs(*, quiet: bool) -> None:
    """Install the programs that the demo of the desktop needs and this machine lacks. Raises MissingExtra and
    SandboxUnavailable, as `install_demo_programs` does.
    """
    from worksample.extras import need
    from worksample.sandboxes.desktop import lacking_packages
    from worksample.workplace.install import apt_get

    need("report", "desktop")
    own = (package for file, package in DESKTOP_PROGRAMS.items() if not Path(file).exists())
    if packages := (*lacking_packages(), *own):
        _say(f"installing {', '.join(packages)}", quiet)
        if brought := apt_get((*packages, FONTS)):
            _say(f"installed {', '.join(brought)}", quiet)


def desktop_config(store: str, *, sandbox: str) -> ExperimentConfig:
    """Return the configuration of the desktop demo's experiment. It has two tasks, which a scripted agent does by mouse
    and keyboard.
    """
    from worksample.experiments.config import AgentConfig, ExperimentConfig
    from worksample.tasks import find_suite

    script = find_suite(DESKTOP).parent / "scripts" / "mouse"
    return ExperimentConfig(
        name="desktop",
        store=store,
        suite=DESKTOP,
        agents=(AgentConfig(name="mouse", harness="scripted", script=str(script)),),
        parallel=2,
        sandbox=sandbox,
        author="demo",
    )


def company_folder() -> Path:
    """Return the folder of the company that ships with Worksample."""
    from worksample.tasks import find_suite

    return find_suite(SUITE).parent / "company"


def trial_page(store: Store, experiment: str, report: Path) -> Path:
    """Return the path of the report's page that shows the agent's screens and the colleagues' answers."""
    from worksample.reports.chosen_experiments import find_experiments
    from worksample.reports.static_site.trial_page import page_of
    from worksample.results.result_set import ResultSet

    work = ResultSet(store, find_experiments(store, (experiment,)))
    pages = [page_of(row) for row in work.frame(work.primary).iter_rows(named=True)]
    return (report / next((page for page in pages if page), "index.html")).resolve()


def _say(text: str, quiet: bool) -> None:
    if not quiet:
        click.echo(printable(text), err=True)


NAMED = re.compile(r'"([^"]+)"')
SITTINGS = 3
"""Number of sessions in which the scripted experts judge: one for each attempt of a chain."""


def feedback_config(store: str, *, parallel: int, sandbox: str, quiet: bool) -> ExperimentConfig:
    """Import the jobs into a folder next to the store, and let the scripted experts qualify the jobs. Return the
    configuration of the feedback demo's experiment.
    """
    from worksample.experiments.config_file import load
    from worksample.formats.jobs import ImportJobs, import_jobs

    here = Path(str(files("worksample").joinpath("suites", "feedback")))
    jobs, fit = Path(store).parent / "jobs", Path(store).parent / "fit"
    import_jobs(here / "jobs.csv", jobs, ImportJobs(visibility="public", filters=UPBENCH, missing=True))
    found = qualify_jobs(jobs, fit, store, sandbox)
    if not quiet:
        click.echo("experts qualified jobs through the app:", err=True)
        for step, many in found.steps:
            click.echo(f"  {step}: {many}", err=True)
    flags = {"suite": str(fit / "suite.toml"), "store": store, "parallel": parallel, "sandbox": sandbox}
    return load(here / "study.toml", flags)


def answer_item(item: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Return a scripted expert's answer to an item: marks for the criteria, and feedback that names each line that the
    deliverables lack.
    """
    lines = {line.strip() for text in texts.values() for line in text.splitlines()}
    marks, said = {}, {}
    for criterion in item["criteria"]["criteria"]:
        [line] = NAMED.findall(criterion["text"])
        marks[criterion["id"]] = "pass" if line in lines else "fail"
        if line not in lines:
            said[criterion["id"]] = f'Add the line "{line}".'
    return {"marks": marks, "feedback": said}


def run_study(config: ExperimentConfig, *, quiet: bool) -> int:
    """Run the experiment until it is complete, with agents and scripted experts in turns. Return the exit code."""
    from worksample.app.judging.scripted_experts import ScriptedExperts
    from worksample.cli.output import open_store
    from worksample.cli.run_output import OutputMode, run_config

    for _ in range(SITTINGS):
        code = run_config(config, OutputMode(quiet=True, hints=False))
        if code > 3:
            return code
        with open_store(config.store) as opened:
            experts = ScriptedExperts(opened, answer_item)
            answers = experts.judge()
        if not quiet:
            told = f"experts gave {answers} answers through the app; each counts as {experts.minutes:g} minutes of work"
            click.echo(told, err=True)
    return run_config(config, OutputMode(quiet=quiet, hints=False))


FACT = re.compile(r"^- (\w+: .+)$", re.MULTILINE)
ATTACHED = re.compile(r"attached (\w+\.\w+)")
ADDRESS = re.compile(r"[\w.]+@[\w.]+")
EXPERTS = ("expert-1", "expert-2", "expert-3")


@dataclass
class QualificationExpert:
    """Scripted expert who examines jobs: whether files are missing, whether persons are named, and which lines are
    required.

    The first expert overlooks an address. So the second expert gives a different answer, and a third expert decides.
    """

    seen: Counter[str] = field(default_factory=Counter)

    def __call__(self, item: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
        from worksample.formats.jobs.screening.job_examination import MISSING_FILES
        from worksample.people.rounds.job_questions import CONTEXT, CRITERIA, IDENTIFIERS, QUALITY, WHY

        self.seen[item["instance"]] += 1
        said = {CONTEXT: "yes", QUALITY: "not_applicable", IDENTIFIERS: "yes"}
        attached = ATTACHED.search(item["brief"])
        if attached and f"`{attached[1]}`" in item["notes"].partition(MISSING_FILES)[2]:
            said |= {CONTEXT: "no", CONTEXT + WHY: "a file that it speaks of is not here"}
        if ADDRESS.search(item["brief"]) and self.seen[item["instance"]] > 1:
            said |= {IDENTIFIERS: "no", IDENTIFIERS + WHY: "it names a person, with an address"}
        if "no" not in said.values():
            said[CRITERIA] = "\n".join(
                f'{"important" if n else "critical"} - Has the line "{fact}"'
                for n, fact in enumerate(FACT.findall(item["brief"]))
            )
        return said


def qualify_jobs(suite: Path, out: Path, store: str, sandbox: str) -> Funnel:
    """Let scripted experts qualify the jobs of a suite through the app, and copy the qualified jobs to `out`. A
    repeated call changes nothing.
    """
    from worksample.app.judging.scripted_experts import ScriptedExperts
    from worksample.cli.output import open_store
    from worksample.people.quality.qualification_funnel import rounds_of_jobs
    from worksample.python_api.job_qualification import Qualifying, funnel, keep_qualified, qualify
    from worksample.store import Store

    with Store.open(store, create=True) as opened:
        begun = bool(rounds_of_jobs(opened))
    if not begun:
        qualify(suite, Qualifying(sandbox=sandbox), store=store)
    if not out.exists():
        with open_store(store) as opened:
            ScriptedExperts(opened, QualificationExpert(), names=EXPERTS).judge()
        keep_qualified(suite, out, store=store)
    return funnel(store=store)
