"""`worksample store merge`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, open_store, say_json, store_option


@click.command("merge")
@click.argument("other")
@store_option
@json_option
def command(other: str, store: str | None, as_json: bool | None) -> None:
    """Take in everything that the store OTHER (a folder or URL) holds. OTHER is not changed."""
    from worksample.store import merge

    with open_store(store, create=True) as into, open_store(other) as source:
        count = merge(into, source)
    if as_json:
        say_json({"taken": count})
    else:
        click.echo(f"{count} objects taken in")
