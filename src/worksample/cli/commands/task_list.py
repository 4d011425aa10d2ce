"""`worksample task list`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, printable, say_json, table


@click.command("list")
@click.argument("where", required=False, default=None)
@json_option
def command(where: str | None, as_json: bool | None) -> None:
    """List the tasks in a folder or a suite.

    WHERE is a folder with packages in it, a suite.toml, or a shipped suite's name; by default the current folder.
    """
    from worksample.errors import ManifestError
    from worksample.tasks import Package, find_suite, read_package, read_suite, shipped_suites

    packages: list[Package] = []
    broken: list[tuple[Path, ManifestError]] = []
    text = where or "."
    if text in shipped_suites() or (Path(text) / "suite.toml").is_file() or text.endswith(".toml"):
        packages += read_suite(find_suite(text)).packages
    else:
        for manifest in sorted(Path(text).glob("**/task.toml")):
            try:
                packages.append(read_package(manifest.parent))
            except ManifestError as error:
                broken.append((manifest.parent, error))
    if as_json:
        say_json(
            {
                "tasks": [
                    {"id": p.id, "folder": str(p.root), "instances": [i.name for i in p.instances]} for p in packages
                ],
                "broken": [{"folder": str(folder), "what": fault.what} for folder, fault in broken],
            }
        )
        return
    columns = ("task", "title", "instances", "category", "tier")
    rows = [(p.id, p.title, ", ".join(i.name for i in p.instances), p.about.category, p.about.tier) for p in packages]
    if rows:
        table("", columns, rows)
    for folder, fault in broken:
        click.echo(printable(f"broken: {folder}: {fault.what}"))
    if not rows and not broken:
        click.echo("no task here\n  next: worksample task new my-task, or worksample task list starter")
