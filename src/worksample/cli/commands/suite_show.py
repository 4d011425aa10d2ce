"""`worksample suite show`."""

from __future__ import annotations

import click

from worksample.cli.output import console, json_option, printable, say_json, table


@click.command("show")
@click.argument("suite", required=False, default=None)
@json_option
def command(suite: str | None, as_json: bool | None) -> None:
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
