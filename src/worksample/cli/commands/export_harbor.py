"""`worksample export harbor`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.output import json_option, say_json, table


@click.command("harbor")
@click.argument("package", type=click.Path(exists=True, file_okay=False))
@click.argument("out", type=click.Path(file_okay=False))
@click.option(
    "--base", default=None, metavar="IMAGE", help="The base image of work and grader; default: python:3.12-slim."
)
@click.option(
    "--organisation", default=None, metavar="NAME", help="First half of the tasks' names; default: worksample."
)
@click.option("--overwrite", is_flag=True, default=None, help="Replace tasks that exist already.")
@json_option
def command(
    package: str, out: str, base: str | None, organisation: str | None, overwrite: bool | None, as_json: bool | None
) -> None:
    """Write each instance of PACKAGE as a Harbor task below the folder OUT.

    The grader becomes the verifier, in its own image with the reference. Whatever Harbor cannot express is reported
    and left out; exit code 3 if nothing could be written (docs/harbor.md).
    """
    from worksample.formats.harbor import ExportHarbor, export_harbor

    given = {"base": base, "organisation": organisation, "overwrite": overwrite}
    config = ExportHarbor(**{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]
    found = list(export_harbor(Path(package), Path(out), config))
    written = [one for one in found if one.folder]
    if as_json:
        say_json([asdict(one) for one in found])
    else:
        rows = [
            (one.instance, "; ".join(one.lacks) or "yes", "yes" if one.solution else "", ", ".join(one.software))
            for one in found
        ]
        table("", ("instance", "written", "solution", "needed in the base image"), rows)
        click.echo(f"{len(written)} tasks in {out}")
    if not written:
        raise SystemExit(INCOMPLETE)
