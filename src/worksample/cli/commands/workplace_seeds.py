"""`worksample workplace seeds`."""

from __future__ import annotations

import time

import click

from worksample.cli.output import duration, json_option, say_json, table


@click.command("seeds")
@json_option
def command(as_json: bool | None) -> int:
    """List the companies that were put into services here: what each takes, and when one was last begun with.

    An outdated one is of other versions of the services or of worksample, so nothing here begins with it again.
    """
    from dataclasses import asdict

    from worksample.workplace.seed_cache import list_seeds

    found = list_seeds()
    if as_json:
        say_json([asdict(one) for one in found])
        return 0
    rows = [
        (
            one.id[:16],
            one.company or "-",
            " ".join(one.services) or "-",
            f"{one.bytes / 1e6:,.1f} MB",
            f"{duration(max(0.0, time.time() - one.used))} ago",
            "in use" if one.in_use else "outdated" if one.outdated else "",
        )
        for one in found
    ]
    table("", ("seed", "company", "services", "on disk", "last used", ""), rows)
    if rows:
        click.echo(f"together {sum(one.bytes for one in found) / 1e6:,.1f} MB")
    return 0
