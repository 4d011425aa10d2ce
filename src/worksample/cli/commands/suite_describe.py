"""`worksample suite describe`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, printable, say_json, table


@click.command("describe")
@click.argument("suite")
@click.option(
    "--market", type=click.Path(dir_okay=False), default=None, help="A CSV of jobs to compare the suite with."
)
@click.option(
    "--out", type=click.Path(file_okay=False), default=None, help="Write page, plots and data into this folder."
)
@click.option(
    "--illustrative", is_flag=True, default=None, help="Also count prices and hours that are only illustrative."
)
@json_option
def command(suite: str, market: str | None, out: str | None, illustrative: bool | None, as_json: bool | None) -> None:
    """Describe what a suite consists of, compared with a sample of a market.

    SUITE is a shipped suite's name, a suite.toml or the folder around one. Shows categories, RLI's three classes of
    work, prices and hours, file types and kinds of grader. The market is a CSV with the column category (an id or a
    title) and, where known, dollars, hours and count.
    """
    from worksample.reports.suite_description import DescribeConfig, describe, read_market, write_description
    from worksample.tasks import find_suite, read_suite

    sample = read_market(Path(market)) if market else None
    config = DescribeConfig(market=sample, illustrative=bool(illustrative))
    found = describe(read_suite(find_suite(suite)), config)
    index = Path(out).resolve() / "index.html" if out else None
    if out:
        write_description(found, Path(out))
    if as_json:
        say_json({**found.plain(), "page": str(index) if index else None})
        return
    for one in found.tables:
        table(one.title, one.columns, one.rows, right=one.columns[1:])
        for note in one.notes:
            click.echo(printable(f"  {note}"))
    r = found.correlation
    click.echo(f"{r.name}: {r.printed()}" + (f" ({r.reason})" if r.reason else ""))
    if index:
        click.echo(f"page: {index}")
