"""`worksample jobs experts`."""

from __future__ import annotations

from dataclasses import asdict

import click

from worksample.cli.output import json_option, open_store, say_json, store_option, table


@click.command("experts")
@store_option
@json_option
def command(store: str | None, as_json: bool | None) -> None:
    """Show how far each set of experts covers the jobs of its categories, and whether more than one looks at each.

    The sets are UpBench's (3.1, Table 1): General and Tech. An expert whose domains name `set:general` or `set:tech` is
    given the jobs of that set's categories.
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
