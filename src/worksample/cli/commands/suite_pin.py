"""`worksample suite pin`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, say_json


@click.command("pin")
@click.argument("suite")
@json_option
def command(suite: str, as_json: bool | None) -> None:
    """Write the digests of a suite's instances to suite.lock.

    From then on, if a task changes, reading the suite fails until you pin it again.
    """
    from worksample.tasks import find_suite, pin_suite

    path = pin_suite(find_suite(suite))
    say_json({"lock": str(path)}) if as_json else click.echo(f"pinned: {path}")
