"""`worksample workplace prune`."""

from __future__ import annotations

import click

from worksample.cli.output import json_option, printable, say_json

UNUSED = 30.0
"""Days."""


@click.command("prune")
@click.argument("seeds", nargs=-1, metavar="[SEED]...")
@click.option(
    "--unused-for", "days", type=click.FloatRange(min=0), default=None, metavar="DAYS",
    help="Remove what no workplace began with for so long; default: 30.",
)  # fmt: skip
@click.option(
    "--outdated", is_flag=True, default=None, help="Also those of other versions of the services or of worksample."
)
@click.option("--dry-run", is_flag=True, default=None, help="Say what would be removed, and remove nothing.")
@json_option
def command(
    seeds: tuple[str, ...], days: float | None, outdated: bool | None, dry_run: bool | None, as_json: bool | None
) -> int:
    """Remove seeds of workplaces that nobody uses, or those whose ids begin as said.

    One that a workplace stands with stays. What needs a removed one makes it again, in about half a minute.
    """
    from worksample.errors import UsageError
    from worksample.workplace.seed_cache import find_seed, remove_orphans, remove_seed, unused_seeds

    days = UNUSED if days is None else days
    wanted = tuple(find_seed(one) for one in seeds) if seeds else unused_seeds(days, outdated=bool(outdated))
    if busy := [one for one in wanted if one.in_use]:
        raise UsageError(f"a workplace stands with {busy[0].id[:16]}", next="worksample workplace status")
    gone = []
    for one in wanted:
        if dry_run or remove_seed(one, unless_used_after=None if seeds else one.used):
            gone.append(one)
            if not as_json:
                word = "would remove" if dry_run else "removed"
                click.echo(printable(f"{word} {one.id[:16]} ({one.company or '-'}), {one.bytes / 1e6:,.1f} MB"))
    if not dry_run:
        remove_orphans()
    if as_json:
        say_json([{"id": one.id, "company": one.company, "bytes": one.bytes} for one in gone])
    elif not gone:
        click.echo("nothing to remove")
    return 0
