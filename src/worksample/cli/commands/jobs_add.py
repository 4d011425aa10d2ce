"""`worksample jobs add`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, say_json, store_option


@click.command("add")
@click.argument("suite")
@store_option
@json_option
def command(suite: str, store: str | None, as_json: bool | None) -> None:
    """Add the jobs of SUITE to the store, so that an admin can open their qualification in the app.

    Jobs that are already there are not changed.
    """
    from worksample.python_api.job_qualification import add_jobs

    ids = add_jobs(suite, store=store)
    if as_json:
        say_json({"jobs": list(ids)})
        return
    click.echo(f"{len(ids)} jobs\n  next: worksample serve, then New round, Qualification")
