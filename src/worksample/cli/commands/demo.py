"""`worksample demo`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from worksample.cli.output import json_option, say_json

FOLDER = Path("worksample-demo")


STUDIES = ("starter", "exam", "feedback", "company", "desktop")


@click.command("demo")
@click.argument("study", required=False, type=click.Choice(STUDIES))
@click.option("--store", metavar="DIR", default=None, help="The store; default: worksample-demo/store.")
@click.option(
    "--out", type=click.Path(file_okay=False), default=None, help="The report; default: worksample-demo/report."
)
@click.option(
    "--only",
    multiple=True,
    default=None,
    metavar="PATTERN",
    help="Use only the suite's instances TASK or TASK/INSTANCE that match; * matches anything. Repeatable.",
)
@click.option("--parallel", type=int, default=None, help="Trials at once; default: 4.")
@click.option("--unsandboxed", is_flag=True, default=None, help="Run without any isolation; the report says so.")
@json_option
def command(
    study: str | None,
    store: str | None,
    out: str | None,
    only: tuple[str, ...] | None,
    parallel: int | None,
    unsandboxed: bool | None,
    as_json: bool | None,
) -> int:
    """Run the starter suite with scripted agents and show the result.

    Needs no key. It needs a network only to fetch the agents' Python libraries if the extra `toolbox` is not installed.
    The agents replay scripts that ship with the suite, some good and some bad, through the same sandbox, limits,
    graders and report as any model.

    `demo exam` runs one task of each family of artifacts (tables, maps, solids, workbooks, programs and more) with a
    good, a half-right and a bad scripted agent. It needs the extra `graders` (docs/reference/artifacts.md).

    `demo feedback` shows re-attempts. Experts qualify jobs from a table and write their rubrics. An agent misses some
    requirements, reads the experts' feedback, and tries again; a control group tries again without any feedback
    (docs/how-to/re-attempts.md).

    `demo company` runs one task in a company with real services. A scripted agent works in the browser, the shell and
    Python, colleagues answer it in the chat, and the report shows its screens. Missing Debian packages are installed,
    as root or by sudo without a password (docs/tutorials/company.md).

    `demo desktop` runs one task in LibreOffice and one in Inkscape. A scripted agent works by mouse and keyboard alone,
    and the report shows a film and each step. Missing Debian packages are installed, as for `demo company`.
    """
    from worksample.cli.demo_studies import (
        company_config,
        company_folder,
        desktop_config,
        exam_config,
        feedback_config,
        install_demo_programs,
        install_desktop_programs,
        run_study,
        starter_config,
        trial_page,
    )
    from worksample.cli.output import open_store
    from worksample.cli.run_output import OutputMode, run_config
    from worksample.errors import UsageError
    from worksample.extras import install_command, lacks, need
    from worksample.reports import write_report

    folder = FOLDER if study in (None, "starter") else FOLDER / study
    where, report = store or str(folder / "store"), Path(out) if out else folder / "report"
    many, sandbox = parallel or 4, "none" if unsandboxed else "bubblewrap"
    if study not in (None, "starter", "exam") and only:
        raise UsageError(
            f"--only selects instances of the suites starter and exam, so it does not work with the study {study}",
            where="worksample demo",
            next=f"worksample demo {study}",
        )
    if study == "feedback":
        need("review")
        config = feedback_config(where, parallel=many, sandbox=sandbox, quiet=bool(as_json))
        code = run_study(config, quiet=bool(as_json))
    elif study == "company":
        _need_boxes(unsandboxed, study, "its services and its browser")
        install_demo_programs(quiet=bool(as_json))
        config = company_config(where, sandbox=sandbox)
        code = run_config(config, OutputMode(quiet=bool(as_json), hints=False))
    elif study == "desktop":
        _need_boxes(unsandboxed, study, "its screen")
        install_desktop_programs(quiet=bool(as_json))
        config = desktop_config(where, sandbox=sandbox)
        code = run_config(config, OutputMode(quiet=bool(as_json), hints=False))
    elif study == "exam":
        config = exam_config(where, parallel=many, sandbox=sandbox, quiet=bool(as_json), only=only or ())
        code = run_config(config, OutputMode(quiet=bool(as_json), hints=False))
    else:
        config = starter_config(where, parallel=many, sandbox=sandbox, only=only or ())
        code = run_config(config, OutputMode(quiet=bool(as_json), hints=False))
    if code > 3:
        return code
    if lacks("report") and not as_json:
        again = f"worksample report --store {shlex.quote(where)} --out {shlex.quote(str(report))}"
        click.echo(f"  next: {install_command('report')}, then {again}   (figures and the report)")
        return code
    with open_store(where) as opened:
        board = write_report(opened, (config.name,), report)
        page = trial_page(opened, config.name, report) if study in ("company", "desktop") else None
    index = (report / "index.html").resolve()
    if as_json:
        shown = {"page": str(page)} if page else {}
        say_json({**board.plain(), "report": str(index), "store": str(Path(where).resolve()), **shown})
    elif page and study == "desktop":
        click.echo(
            f"report: {index}\n  the film and the steps of one task: {page}\n"
            f"  next: open it in a browser, as in  xdg-open {shlex.quote(str(page))}"
        )
    elif page:
        company = shlex.quote(str(company_folder()))
        click.echo(
            f"report: {index}\n  the agent's screens, and what colleagues answered: {page}\n"
            f"  next: open it in a browser, as in  xdg-open {shlex.quote(str(page))}\n"
            f"  then: worksample workplace up {company}   to walk through the company yourself"
        )
    else:
        click.echo(
            f"report: {index}\n  next: open it in a browser, as in  xdg-open {shlex.quote(str(index))}\n"
            f"  then: worksample review --store {shlex.quote(where)}   to judge the deliverables yourself\n"
            f"        worksample task new my-task   (docs/tutorials/own-task.md)"
        )
    return code


def _need_boxes(unsandboxed: bool | None, study: str, reason: str) -> None:
    """Raise UsageError if a study that needs boxes is run without isolation."""
    from worksample.errors import UsageError

    if unsandboxed:
        raise UsageError(
            f"demo {study} needs boxes for {reason}", where="--unsandboxed", next=f"worksample demo {study}"
        )
