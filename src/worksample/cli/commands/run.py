"""Commands `worksample run` and `worksample resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from worksample.cli.output import json_option, open_store, store_option
from worksample.cli.run_options import flags_of, run_options
from worksample.cli.service_options import judge_options, judging_flags
from worksample.cli.startup_phase import STARTING, begin
from worksample.errors import UsageError


@click.command("run")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@run_options
@click.option(
    "--dry-run",
    is_flag=True,
    default=None,
    help="Show the plan, its progress, and what the rest may cost; run nothing.",
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
def run_command(
    file: str | None,
    dry_run: bool | None,
    expect: float | None,
    pilot: str | None,
    as_json: bool | None,
    **values: Any,
) -> int:
    """Run an experiment: agents on tasks, each trial graded as it closes.

    FILE is a TOML or YAML file (docs/how-to/run-an-experiment.md); flags override it. If you run the same experiment
    again, it continues: finished trials do not run again.
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
        raise UsageError(
            "--expect and --pilot contradict each other: one assumes the pass rate, the other measures it",
            next="give only one of them",
        )
    begin("reading the tasks", silent=bool(as_json))
    from worksample.experiments.config_file import check_names, load

    config = load(Path(file) if file else None, flags)
    check_names(config)
    from worksample.cli.run_output import OutputMode, print_dry_run, run_config

    if dry_run:
        return print_dry_run(config, as_json=bool(as_json), expect=expect, pilot=pilot)
    return run_config(config, OutputMode(as_json=bool(as_json), store=config.store))


@click.command("resume")
@click.argument("experiment", required=False, default=None)
@click.option("--parallel", type=int, default=None, help="Trials at once; default: as planned.")
@click.option("--graders", type=int, default=None, help="Submissions graded at once; default: as planned.")
@click.option("--tries", type=int, default=None, help="Tries per slot; default: as planned.")
@judge_options
@store_option
@json_option
def resume_command(experiment: str | None, store: str | None, as_json: bool | None, **given: Any) -> int:
    """Continue an experiment that was stopped: EXPERIMENT is its name or id, by default the latest.

    Runs every open slot, grades every ungraded submission, and queues what people still have to judge. Tasks, agents
    and graders stay as planned, even if their folders have changed since.
    """
    begin("reading the plan", "no trial was started\n  next: run the same command again", silent=bool(as_json))
    from worksample.cli.run_output import OutputMode, print_model_warnings, run_and_tell
    from worksample.experiments.config_file import config_of_experiment
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.python_api.experiment_run import options_of, prove_rest

    flags = judging_flags(given)
    with open_store(store) as opened:
        found = find_experiment(opened, experiment or "", planned=True)
        config = config_of_experiment(found, flags)
        models = prove_rest(opened, found, config)
        if not as_json:
            print_model_warnings(models)
        options = options_of(config, **given)
        return run_and_tell(opened, found, options, OutputMode(as_json=bool(as_json), store=store))
