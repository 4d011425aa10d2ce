"""`worksample store check`."""

from __future__ import annotations

import click

from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.output import json_option, printable, say_json, store_option


@click.command("check")
@click.option("--deep", is_flag=True, default=None, help="Also read every blob and compare it with its digest.")
@store_option
@json_option
def command(deep: bool | None, store: str | None, as_json: bool | None) -> int:
    """Check that objects, blobs and database agree. Exit code 3 if they do not."""
    from dataclasses import asdict

    from worksample.store import Store, check

    with Store.open(store, heal=False) as opened:
        faults = check(opened, deep=bool(deep))
    if as_json:
        say_json([asdict(fault) for fault in faults])
        return INCOMPLETE if faults else 0
    for fault in faults:
        click.echo(printable(fault))
    click.echo(f"{len(faults)} faults" if faults else "sound")
    return INCOMPLETE if faults else 0
