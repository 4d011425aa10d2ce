"""Command `worksample model check`: try models before a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worksample.cli.exit_codes import FAILED
from worksample.cli.output import json_option, price_option, printable, say_json, table
from worksample.cli.service_options import service_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from worksample.experiments.model_check import ModelCheckResult


@click.command("check")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--agent", "agents", multiple=True, default=None, metavar="NAME|FILE", help="As for run; by default worker."
)
@click.option("--model", "models", multiple=True, default=None, metavar="PROVIDER/MODEL", help="As for run.")
@price_option()
@service_options
@click.option("--offline", is_flag=True, default=None, help="Call no model; check only provider, key and settings.")
@json_option
def check_command(file: str | None, offline: bool | None, as_json: bool | None, **values: Any) -> int:
    """Check the models of an experiment before you pay for a run.

    FILE is an experiment file; without one, --agent and --model name the agents. Each agent's model gets one short call
    with a tool, which costs a few hundred tokens and tests provider, key, model name and generation settings. If a
    model does not work, prints the provider's message and exits with code 1.
    """
    from worksample.cli.run_options import flags_of
    from worksample.experiments.config_file import load
    from worksample.experiments.model_check import check_models
    from worksample.experiments.planning.plan_preparation import agent_of

    flags = flags_of(values)
    if file is None:
        # A config needs tasks, but a check of models never reads them.
        flags = {"suite": "starter", "agents": [{"harness": "worker"}], **flags}
    config = load(Path(file) if file else None, flags)
    found = check_models([agent_of(agent) for agent in config.agents], config, call=not offline)
    if as_json:
        say_json([one.plain() for one in found])
    else:
        _print_checks(found)
    return 0 if all(one.sound for one in found) else FAILED


def _price_text(one: ModelCheckResult) -> str:
    if not one.priced:
        return "none: costs are unknown"
    return "known; tokens and costs are estimated" if one.estimated else "given"


def _print_checks(found: Sequence[ModelCheckResult]) -> None:
    from worksample.cli.run_output import ESTIMATED

    if not found:
        click.echo("none of these agents calls a model")
        return
    rows = [
        (one.agent, one.model, "ok" if one.sound else "FAULT", one.fault or one.answered or "not called",
         _price_text(one))
        for one in found
    ]  # fmt: skip
    table("", ("agent", "model", "", "result of the check", "price"), rows)
    for step in dict.fromkeys(one.next for one in found if one.next):
        click.echo(printable(f"  next: {step}"))
    for model in dict.fromkeys(one.model for one in found if one.estimated):
        click.echo(printable(f"{model}: {ESTIMATED}"))
    for model in dict.fromkeys(one.model for one in found if one.sound and not one.priced):
        click.echo(
            printable(
                f"  a price: --price {model}=INPUT,OUTPUT[,CACHE_READ[,CACHE_WRITE]] in dollars per million tokens"
            )
        )
