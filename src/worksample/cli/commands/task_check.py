"""`worksample task check`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.exit_codes import FAILED
from worksample.cli.output import json_option, printable, say_json, table

if TYPE_CHECKING:
    from worksample.audit import Report


@click.command("check")
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--parallel", type=int, default=None, help="Gradings at once; default: 2.")
@click.option("--sandbox", default=None, metavar="KIND", help="Where graders run; default: bubblewrap.")
@json_option
def command(folders: tuple[str, ...], parallel: int | None, sandbox: str | None, as_json: bool | None) -> int:
    """Check task packages before they are used (docs/audit.md). Exit code 1 if an error is found.

    Grades control submissions twice: the reference must get full marks and an empty submission 0, copied inputs and
    empty files must not pass, and each of cases/ must get its expected score. Also looks for ways in which the agent
    could reach the reference, and for names that only one of brief and grader uses.
    """
    from worksample.audit import AuditConfig, check
    from worksample.tasks import read_package

    reports = []
    for folder in folders:
        package = read_package(Path(folder))
        config = AuditConfig(
            parallel=parallel or 2, sandbox=sandbox or "bubblewrap", on_step=_silent if as_json else _tell
        )
        report = check(package, config)
        reports.append(report)
        if not as_json:
            _show(report)
            if report.passed:
                _next(Path(folder))
    if as_json:
        say_json([report.plain() for report in reports])
    return 0 if all(report.passed for report in reports) else FAILED


def _silent(text: str) -> None:
    pass


def _tell(text: str) -> None:
    click.echo(printable(f"  grading {text}"), err=True)


def _show(report: Report) -> None:
    columns = ("instance", "control", "expected", "score", "")
    rows = [
        (
            g.instance,
            g.control,
            g.expected,
            "ungraded" if g.score is None else f"{g.score:.3f}",
            "" if g.right else "WRONG",
        )
        for g in report.graded
    ]
    if rows:
        table(report.task, columns, rows, right=("score",))
    for finding in report.findings:
        where = f"{finding.where}: " if finding.where else ""
        click.echo(printable(f"{finding.severity} ({finding.check}) {where}{finding.what}"))
        if finding.do:
            click.echo(printable(f"  next: {finding.do}"))
    for note in report.notes:
        click.echo(printable(f"note: {note}"))
    errors = len(report.errors)
    warnings = len(report.findings) - errors
    told = "passed" if report.passed else "NOT PASSED"
    click.echo(f"{report.task}: {told}, {_many(errors, 'error')}, {_many(warnings, 'warning')}")


def _next(folder: Path) -> None:
    """What a package that passed is for."""
    who = "--agent worker --model PROVIDER/MODEL"
    if (folder / "scripts" / "good").is_dir():
        who = f"--agent scripted --script {shlex.quote(str(folder / 'scripts' / 'good'))}"
    click.echo(printable(f"  next: worksample run --task {shlex.quote(str(folder))} {who}"))


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
