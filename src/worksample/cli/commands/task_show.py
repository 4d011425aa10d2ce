"""`worksample task show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from worksample.cli.output import console, json_option, printable, say_json, table

if TYPE_CHECKING:
    from worksample.records import Deliverable, Instance, Limits
    from worksample.tasks import Package


@click.command("show")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@json_option
def command(folder: str, as_json: bool | None) -> None:
    """Show what a task package says: brief, environment, deliverables, criteria, instances and digests."""
    from worksample.files import HashSink
    from worksample.tasks import ingest, read_package

    package = read_package(Path(folder))
    taken = ingest(package, HashSink())
    if as_json:
        say_json({"task": taken.task.plain(), "instances": [i.plain() for i in taken.instances]})
        return
    _head(package, taken.instances[0])
    table(
        "instances",
        ("name", "title", "work", "grading"),
        [
            (i.name, i.title, i.work_digest[:12], ", ".join(f"{p} {i.grading_digest(p)[:12]}" for p in i.grading))
            for i in taken.instances
        ],
    )
    click.echo(printable(taken.instances[0].work.brief.rstrip()))


def _head(package: Package, instance: Instance) -> None:
    about, environment = package.about, package.instances[0].environment
    out = console()
    out.print(printable(f"{package.id} {package.version}: {package.title}"), style="bold")
    rows: list[tuple[str, object]] = [
        ("category", about.category),
        ("occupation", about.occupation),
        ("tier", about.tier),
        ("licence", about.licence),
        ("provenance", about.provenance),
        ("canary", package.canary),
    ]
    if about.value:
        v = about.value
        rows.append(("value", f"{v.low:g} to {v.high:g} {v.currency} ({v.source}, {v.date})"))
    if about.hours:
        rows.append(
            ("hours", f"{about.hours.low:g} to {about.hours.high:g} ({about.hours.source}, {about.hours.date})")
        )
    rows += [
        ("network", environment.network),
        ("image", environment.image.name if environment.image else ""),
        ("software", ", ".join(environment.software)),
        ("requires", ", ".join(environment.requires)),
        *_said_by("limits", {i.name: _limits(i.environment.limits) for i in package.instances}),
        *_said_by("output", {i.name: i.environment.paths.output for i in package.instances}),
        ("cases", ", ".join(case.name for case in package.cases)),
        ("probes", ", ".join(package.probes)),
    ]
    table("", ("", ""), [row for row in rows if row[1]])
    table("deliverables", ("name", "format", "required", "about", "of"), _deliverables(package))
    leaves = package.criteria.leaves
    if leaves:
        worth = [str(c.importance) if c.importance else f"{c.worth:g}" for c in leaves]
        rows_of = zip(leaves, worth, strict=True)
        table(
            "criteria",
            ("id", "worth", "by", "kind", "gate", "text"),
            [(c.id, w, c.by, c.kind or "", "gate" if c.gate else "", c.text) for c, w in rows_of],
        )


def _limits(limits: Limits) -> str:
    return ", ".join(f"{k} {v:g}" for k, v in limits.plain().items() if v is not None)


def _said_by(what: str, by_instance: dict[str, str]) -> list[tuple[str, object]]:
    """One row where all instances say the same, else one for each."""
    if len(set(by_instance.values())) == 1:
        return [(what, next(iter(by_instance.values())))]
    return [(f"{what} of {name}", said) for name, said in by_instance.items()]


def _deliverables(package: Package) -> list[tuple[str, str, str, str, str]]:
    """Each deliverable once, and which instances ask for it."""
    asked: dict[Deliverable, list[str]] = {}
    for spec in package.instances:
        for one in spec.deliverables:
            asked.setdefault(one, []).append(spec.name)
    whole = len(package.instances)
    return [
        (d.name, d.format, "yes" if d.required else "no", d.about, "all" if len(of) == whole else ", ".join(of))
        for d, of in asked.items()
    ]
