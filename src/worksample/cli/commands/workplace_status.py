"""`worksample workplace status`."""

from __future__ import annotations

import time

import click

from worksample.cli.output import duration, json_option, say_json, table


@click.command("status")
@json_option
def command(as_json: bool | None) -> int:
    """List the workplaces that are running on this machine, with their addresses."""
    from worksample.workplace.running_workplaces import list_running

    found = list(list_running())
    if as_json:
        say_json(found)
        return 0
    rows = [
        (one["name"], one["from"], duration(time.time() - one["since"]), " ".join(one["addresses"].values()))
        for one in found
    ]
    table("", ("name", "from", "running for", "addresses"), rows)
    return 0
