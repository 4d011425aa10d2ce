"""Commands `worksample suite ...`: show, describe and pin suites."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import console, json_option, printable, say_json, table


@click.command("show")
@click.argument("suite", required=False, default=None)
@json_option
def show_command(suite: str | None, as_json: bool | None) -> None:
    """Show a suite: its instances, tiers and pins.

    SUITE is a shipped suite's name, a suite.toml or the folder around one; without it the shipped ones are listed.
    """
    from worksample.files import HashSink
    from worksample.tasks import find_suite, ingest_suite, read_suite, shipped_suites

    if suite is None:
        names = shipped_suites()
        say_json(list(names)) if as_json else click.echo("\n".join(names))
        return
    read = read_suite(find_suite(suite))
    taken = ingest_suite(read, HashSink())
    if as_json:
        say_json({"suite": taken.suite.plain(), "instances": [i.plain() for i in taken.instances]})
        return
    console().print(
        printable(f"{taken.suite.id}  {read.title}, version {read.version}, {read.visibility}"), style="bold"
    )
    tiers = {key: name for name, keys in read.tiers for key in keys}
    columns = ("instance", "tier", "category", "value", "hours", "graded by", "work")
    table(
        "",
        columns,
        [
            (
                i.key,
                tiers.get(i.key, ""),
                i.about.category,
                f"{i.about.value.middle:g} {i.about.value.currency}" if i.about.value else "",
                f"{i.about.hours.middle:g}" if i.about.hours else "",
                ", ".join(i.grading),
                i.work_digest[:12],
            )
            for i in taken.instances
        ],
        right=("value", "hours"),
    )
    for role, model in read.roles.items():
        click.echo(printable(f"role {role}: {model}"))
    lock = read.path.parent / "suite.lock"
    click.echo(f"pinned by {lock}" if lock.is_file() else f"not pinned\n  next: worksample suite pin {suite}")


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
def describe_command(
    suite: str, market: str | None, out: str | None, illustrative: bool | None, as_json: bool | None
) -> None:
    """Describe what a suite consists of, compared with a sample of a market.

    SUITE is a shipped suite's name, a suite.toml or the folder around one. Shows categories, RLI's three classes of
    work, prices and hours, file types and kinds of grader. The market is a CSV with the column category (an id or a
    title) and, if known, dollars, hours and count.
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
    click.echo(f"{r.name}: {r.format_value()}" + (f" ({r.reason})" if r.reason else ""))
    if index:
        click.echo(f"page: {index}")


@click.command("pin")
@click.argument("suite")
@json_option
def pin_command(suite: str, as_json: bool | None) -> None:
    """Write the digests of a suite's instances to suite.lock.

    From then on, if a task changes, reading the suite fails until you pin it again.
    """
    from worksample.tasks import find_suite, pin_suite

    path = pin_suite(find_suite(suite))
    say_json({"lock": str(path)}) if as_json else click.echo(f"pinned: {path}")
