"""`worksample store rebuild`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, open_store, say_json, store_option


@click.command("rebuild")
@store_option
@json_option
def command(store: str | None, as_json: bool | None) -> None:
    """Rebuild the database from the objects: they are the truth, the database is an index over them."""
    from worksample.store import rebuild

    with open_store(store) as opened:
        count = rebuild(opened)
    if as_json:
        say_json({"records": count})
    else:
        click.echo(f"{count} records indexed")
