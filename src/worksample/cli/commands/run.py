"""`worksample run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from worksample.cli.output import json_option, store_option
from worksample.cli.phase import STARTING, begin
from worksample.cli.run_options import flags_of, run_options
from worksample.errors import UsageError


@click.command("run")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@run_options
@click.option(
    "--dry-run",
    is_flag=True,
    default=None,
    help="Show the plan, how much of it is already done and what the rest may cost; run nothing.",
)
@click.option(
    "--expect",
    type=float,
    default=None,
    metavar="RATE",
    help="The first agent's pass rate that --dry-run assumes when it computes power; default: 0.25.",
)
@click.option(
    "--pilot",
    default=None,
    metavar="EXPERIMENT",
    help="Let --dry-run compute power from the variances of this experiment in the store instead.",
)
@store_option
@json_option
def command(
    file: str | None,
    dry_run: bool | None,
    expect: float | None,
    pilot: str | None,
    as_json: bool | None,
    **values: Any,
) -> int:
    """Run an experiment: agents on tasks, each trial graded as it closes.

    FILE is a TOML or YAML file (docs/experiments.md); flags override it. If you run the same experiment again, it
    continues where it stopped: nothing that is finished runs twice.
    """
    begin(STARTING, silent=True)
    flags = flags_of(values)
    if file is None and not flags:
        raise UsageError(
            "nothing to run: neither FILE nor any option was given",
            next="worksample run --suite starter --agent worker --model PROVIDER/MODEL, or worksample run FILE",
        )
    if (expect is not None or pilot) and not dry_run:
        raise UsageError("--expect and --pilot work only with --dry-run", next="add --dry-run, or leave them out")
    if expect is not None and pilot:
        raise UsageError("--expect assumes the pass rate that --pilot measures", next="give only one of them")
    begin("reading the tasks", silent=bool(as_json))
    from worksample.experiments.config_file import check_names, load

    config = load(Path(file) if file else None, flags)
    check_names(config)
    from worksample.cli.show_run import Tone, dry, run_config

    if dry_run:
        return dry(config, as_json=bool(as_json), expect=expect, pilot=pilot)
    return run_config(config, Tone(as_json=bool(as_json), store=config.store))
