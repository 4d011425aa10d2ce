"""Name collisions of experiments: say which one is used, and how to name the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .output import printable

if TYPE_CHECKING:
    from worksample.records import Experiment
    from worksample.store import Store

SHOWN = 5


def print_namesakes(store: Store, experiment: Experiment) -> None:
    """Before a run, list other experiments of this name. A name means the latest, so earlier ones are named by id."""
    from worksample.experiments.experiment_lookup import others_of_name, short_name

    others = others_of_name(store, experiment)
    if not others:
        return
    means = short_name(store, experiment)
    mine = "the name means this one" if means == experiment.name else f"this one is {experiment.id}"
    click.echo(printable(f"the name {experiment.name} is also used by {_list_experiments(others)}"), err=True)
    hint = "in metrics, report and resume, type an id to mean another one, or give this run another --name"
    click.echo(printable(f"  {mine}; {hint}"), err=True)


def print_chosen_experiments(store: Store, names: Sequence[str]) -> None:
    """Before figures, say which of several experiments is shown. Print nothing if an id was typed."""
    from worksample.reports.chosen_experiments import find_experiments

    found = find_experiments(store, names)
    if not names:
        tell_chosen(found[0])
    tell_meant(store, found, names)


def tell_chosen(experiment: Experiment) -> None:
    """Say which experiment was chosen if none was named."""
    click.echo(printable(f"experiment {experiment.id}, the latest ({experiment.at:%Y-%m-%d %H:%M})"), err=True)


def tell_meant(store: Store, meant: Sequence[Experiment], typed: Sequence[str]) -> None:
    """Say which of several experiments is shown, if it is known which ones were meant."""
    from worksample.experiments.experiment_lookup import others_of_name

    for found in meant:
        others = others_of_name(store, found)
        if others and found.id not in typed:
            click.echo(
                printable(f"{found.name} is {found.id} here; of the same name: {_list_experiments(others)}"), err=True
            )


def _list_experiments(others: Sequence[Experiment]) -> str:
    latest = sorted(others, key=lambda e: (e.at, e.id), reverse=True)
    shown = ", ".join(f"{e.id} ({e.at:%Y-%m-%d %H:%M})" for e in latest[:SHOWN])
    return shown + (f" and {len(latest) - SHOWN} more" if len(latest) > SHOWN else "")
