"""`worksample resume`."""

from __future__ import annotations

from typing import Any

import click

from worksample.cli.output import json_option, open_store, store_option
from worksample.cli.phase import begin
from worksample.cli.service_options import judge_options, judging_flags


@click.command("resume")
@click.argument("experiment", required=False, default=None)
@click.option("--parallel", type=int, default=None, help="Trials at once; default: as planned.")
@click.option("--graders", type=int, default=None, help="Submissions graded at once; default: as planned.")
@click.option("--tries", type=int, default=None, help="Tries per slot; default: as planned.")
@judge_options
@store_option
@json_option
def command(experiment: str | None, store: str | None, as_json: bool | None, **given: Any) -> int:
    """Continue an experiment that was stopped: EXPERIMENT is its name or id, by default the latest.

    Runs every open slot, grades every ungraded submission, and gives people whatever they still have to judge. Tasks,
    agents and graders are those that were planned, even if their folders have changed since.
    """
    begin("reading what is planned", "no trial was begun\n  next: the same command", silent=bool(as_json))
    from worksample.cli.show_run import Tone, run_and_tell, tell_models
    from worksample.experiments.config_file import config_of_experiment
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.python_api.experiment_run import options_of, prove_rest

    flags = judging_flags(given)
    with open_store(store) as opened:
        found = find_experiment(opened, experiment or "", planned=True)
        config = config_of_experiment(found, flags)
        models = prove_rest(opened, found, config)
        if not as_json:
            tell_models(models)
        options = options_of(config, **given)
        return run_and_tell(opened, found, options, Tone(as_json=bool(as_json), store=store))
