"""`worksample jobs funnel`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, printable, say_json, store_option, table


@click.command("funnel")
@click.argument("round_", metavar="[ROUND]", default="")
@click.option("--out", "left_out", is_flag=True, default=None, help="List the jobs that dropped out, with the reasons.")
@store_option
@json_option
def command(round_: str, left_out: bool | None, store: str | None, as_json: bool | None) -> None:
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
