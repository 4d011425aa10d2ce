"""`worksample jobs keep`."""

from __future__ import annotations

from pathlib import Path

import click

from worksample.cli.output import json_option, say_json, store_option


@click.command("keep")
@click.argument("suite")
@click.argument("out", type=click.Path(file_okay=False))
@click.option("--round", "round_", default=None, help="A qualification's id; default: the latest.")
@store_option
@json_option
def command(suite: str, out: str, round_: str | None, store: str | None, as_json: bool | None) -> None:
    """Make a suite of those jobs of SUITE that qualified, below the new folder OUT.

    A job without a rubric gets the one that an expert wrote when it qualified.
    """
    from worksample.python_api.job_qualification import keep_qualified

    names = keep_qualified(suite, Path(out), round_ or "", store=store)
    if as_json:
        say_json({"out": out, "jobs": list(names)})
        return
    click.echo(f"{len(names)} jobs\nsuite: {out}")
    click.echo(f"  next: worksample run --suite {out} --agent worker --model PROVIDER/MODEL")
