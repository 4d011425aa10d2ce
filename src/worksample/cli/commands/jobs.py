"""Commands `worksample jobs ...`: have experts decide which jobs are fit to be tasks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.output import console, json_option, open_store, printable, say_json, store_option, table

if TYPE_CHECKING:
    from worksample.formats.jobs.screening import JobExamination


@click.command("add")
@click.argument("suite")
@store_option
@json_option
def add_command(suite: str, store: str | None, as_json: bool | None) -> None:
    """Add the jobs of SUITE to the store, so that an admin can open their qualification in the app.

    Jobs that are already there are not changed.
    """
    from worksample.python_api.job_qualification import add_jobs

    ids = add_jobs(suite, store=store)
    if as_json:
        say_json({"jobs": list(ids)})
        return
    click.echo(f"{len(ids)} jobs\n  next: worksample serve, then New round, Qualification")


MOST_LISTED = 30
"""Maximum number of jobs that a printed list shows."""


@click.command("qualify")
@click.argument("suite")
@click.option(
    "--questions", type=click.Path(dir_okay=False), default=None, help="A TOML file with questions of your own."
)
@click.option(
    "--both", is_flag=True, default=None, help="Ask two experts about every job, not only about those that qualified."
)
@click.option(
    "--sandbox", default=None, help="The kind of sandbox in which attachments are read: bubblewrap (default) or none."
)
@click.option("--reason", default=None, help="Why this round is opened; kept with it.")
@store_option
@json_option
def qualify_command(
    suite: str, questions: str | None, both: bool | None, sandbox: str | None, reason: str | None, store: str | None,
    as_json: bool | None,
) -> None:  # fmt: skip
    """Examine a suite's jobs, and open a round in which experts decide which are fit to be tasks.

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
            made = qualify(suite, config, store=store, told=lambda n: status.update(f"{n} jobs examined"))
    if as_json:
        looks = {id: {k: v for k, v in look.plain().items() if k != "shown"} for id, look in made.looks.items()}
        say_json({"round": made.round.id, "jobs": len(made.looks), "looks": looks})
        return
    _print_findings(made.looks)
    click.echo(f"round: {made.round.id}\n  next: worksample serve, and invite experts; then worksample jobs funnel")


def _job_name(id: str) -> str:
    return id.partition("@")[0].removesuffix("/job")


def _print_findings(looks: dict[str, JobExamination]) -> None:
    found = [(id, look) for id, look in looks.items() if look.has_findings]
    rows = [
        (_job_name(id), look.there, len(look.missing), len(look.broken), len(look.candidates))
        for id, look in found[:MOST_LISTED]
    ]
    if rows:
        columns = ("job", "files", "missing", "do not open", "identifiers?")
        table("", columns, rows, right=columns[1:])
    if len(found) > MOST_LISTED:
        click.echo(f"  and {len(found) - MOST_LISTED} more")
    click.echo(f"{len(looks)} jobs examined; {len(found)} have findings")
    if looks and not next(iter(looks.values())).by:
        from worksample.extras import install_command

        click.echo(printable(f"  personal identifiers were not searched\n  next: {install_command('pii')}"))


@click.command("funnel")
@click.argument("round_", metavar="[ROUND]", default="")
@click.option("--out", "left_out", is_flag=True, default=None, help="List the jobs that dropped out, with the reasons.")
@store_option
@json_option
def funnel_command(round_: str, left_out: bool | None, store: str | None, as_json: bool | None) -> None:
    """Show how many jobs dropped out at each step, and why.

    ROUND is a qualification's id, by default the latest.
    """
    from worksample.python_api.job_qualification import funnel

    found = funnel(round_, store=store)
    if as_json:
        say_json(found.plain())
        return
    table("", ("step", "jobs"), found.steps, right=("jobs",))
    if left_out:
        for job in found.jobs:
            if job.passed is False:
                names = ", ".join(name.replace("_", " ") for name in job.failed)
                click.echo(printable(f"  {job.contract}: {names}; {'; '.join(job.reasons)}"))


@click.command("experts")
@store_option
@json_option
def experts_command(store: str | None, as_json: bool | None) -> None:
    """Show how many jobs of its categories each set of experts looked at, and how many by two experts or more.

    The sets are UpBench's (3.1, Table 1): General and Tech. An expert whose domains name `set:general` or `set:tech` is
    assigned the jobs of that set's categories.
    """
    from worksample.people.quality.expert_coverage import coverage

    with open_store(store) as opened:
        rows = coverage(opened)
    if as_json:
        say_json([asdict(row) for row in rows])
        return
    heads = (
        "set",
        "categories",
        "jobs",
        "experts",
        "looked at",
        "by two or more",
        "answers",
        "out of domain",
        "most by one",
    )
    table("", heads, [tuple(asdict(row).values()) for row in rows], right=heads[1:])


@click.command("keep")
@click.argument("suite")
@click.argument("out", type=click.Path(file_okay=False))
@click.option("--round", "round_", default=None, help="A qualification's id; default: the latest.")
@store_option
@json_option
def keep_command(suite: str, out: str, round_: str | None, store: str | None, as_json: bool | None) -> None:
    """Make a suite of those jobs of SUITE that qualified, below the new folder OUT.

    A job without a rubric gets the one that an expert wrote when it qualified.
    """
    from worksample.python_api.job_qualification import keep_qualified

    names = keep_qualified(suite, Path(out), round_ or "", store=store)
    if as_json:
        say_json({"out": out, "jobs": list(names)})
        return
    click.echo(f"{len(names)} jobs\nsuite: {out}")
    click.echo(f"  next: worksample run --suite {out} --agent worker --model PROVIDER/MODEL")
