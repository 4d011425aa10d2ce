"""`worksample jobs qualify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.output import console, json_option, printable, say_json, store_option, table

if TYPE_CHECKING:
    from worksample.formats.jobs.screening import JobExamination

MOST = 30
"""Jobs that are listed."""


@click.command("qualify")
@click.argument("suite")
@click.option(
    "--questions", type=click.Path(dir_okay=False), default=None, help="A TOML file with questions of your own."
)
@click.option(
    "--both", is_flag=True, default=None, help="Ask two experts about every job, not only about those that qualified."
)
@click.option("--sandbox", default=None, help="Where attachments are read: bubblewrap (default) or none.")
@click.option("--reason", default=None, help="Why this round is opened; kept with it.")
@store_option
@json_option
def command(
    suite: str, questions: str | None, both: bool | None, sandbox: str | None, reason: str | None, store: str | None,
    as_json: bool | None,
) -> None:  # fmt: skip
    """Examine a suite's jobs, and open a round in which experts say which are fit to be tasks.

    A program counts attachments and names files that the post mentions but that are missing, files that do not open,
    and possible personal identifiers (extra `pii`). An expert answers in the app, a second one verifies the jobs that
    qualified, and a third one decides if the two differ.
    """
    from worksample.python_api.job_qualification import Qualifying, qualify

    config = Qualifying(
        questions=Path(questions) if questions else None, both=bool(both), sandbox=sandbox or "bubblewrap",
        reason=reason or "",
    )  # fmt: skip
    shown = console(err=True)
    if as_json or not shown.is_terminal:
        made = qualify(suite, config, store=store)
    else:
        with shown.status("looking") as status:
            made = qualify(suite, config, store=store, told=lambda n: status.update(f"{n} jobs looked at"))
    if as_json:
        looks = {id: {k: v for k, v in look.plain().items() if k != "shown"} for id, look in made.looks.items()}
        say_json({"round": made.round.id, "jobs": len(made.looks), "looks": looks})
        return
    _show(made.looks)
    click.echo(f"round: {made.round.id}\n  next: worksample serve, and invite experts; then worksample jobs funnel")


def _name(id: str) -> str:
    return id.partition("@")[0].removesuffix("/job")


def _show(looks: dict[str, JobExamination]) -> None:
    found = [(id, look) for id, look in looks.items() if look.has_findings]
    rows = [
        (_name(id), look.there, len(look.missing), len(look.broken), len(look.candidates)) for id, look in found[:MOST]
    ]
    if rows:
        columns = ("job", "files", "missing", "do not open", "identifiers?")
        table("", columns, rows, right=columns[1:])
    if len(found) > MOST:
        click.echo(f"  and {len(found) - MOST} more")
    click.echo(f"{len(looks)} jobs examined, with findings in {len(found)}")
    if looks and not next(iter(looks.values())).by:
        click.echo(printable("  personal identifiers were not looked for\n  next: pip install 'worksample[pii]'"))
