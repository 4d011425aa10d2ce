"""Messages about experiments that share a name: which experiment is used, and the ids of the others."""

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
    """Print the other experiments of the same name before a run. A name stands for the latest experiment, and the
    others are chosen by their ids.
    """
    from worksample.experiments.experiment_lookup import others_of_name, short_name

    others = others_of_name(store, experiment)
    if not others:
        return
    means = short_name(store, experiment)
    mine = (
        "the name now means this experiment"
        if means == experiment.name
        else f"the id of this experiment is {experiment.id}"
    )
    click.echo(printable(f"the name {experiment.name} is also used by {_list_experiments(others)}"), err=True)
    hint = "to use another one in metrics, report and resume, type its id; or give this run another --name"
    click.echo(printable(f"  {mine}; {hint}"), err=True)


def print_chosen_experiments(store: Store, names: Sequence[str]) -> None:
    """Print to which experiment the figures belong if several experiments share its name. Print nothing if the user
    typed an id.
    """
    from worksample.reports.chosen_experiments import find_experiments

    found = find_experiments(store, names)
    if not names:
        print_latest_experiment(found[0])
    print_resolved_names(store, found, names)


def print_latest_experiment(experiment: Experiment) -> None:
    """Print the name of the latest experiment, which is used because the user named none."""
    click.echo(printable(f"experiment {experiment.id}, the latest ({experiment.at:%Y-%m-%d %H:%M})"), err=True)


def print_resolved_names(store: Store, meant: Sequence[Experiment], typed: Sequence[str]) -> None:
    """Print the id of each chosen experiment whose name other experiments share, and the ids of the other
    experiments.
    """
    from worksample.experiments.experiment_lookup import others_of_name

    for found in meant:
        others = others_of_name(store, found)
        if others and found.id not in typed:
            click.echo(
                printable(
                    f"{found.name} means {found.id}; other experiments of this name: {_list_experiments(others)}"
                ),
                err=True,
            )


def _list_experiments(others: Sequence[Experiment]) -> str:
    latest = sorted(others, key=lambda e: (e.at, e.id), reverse=True)
    shown = ", ".join(f"{e.id} ({e.at:%Y-%m-%d %H:%M})" for e in latest[:SHOWN])
    return shown + (f" and {len(latest) - SHOWN} more" if len(latest) > SHOWN else "")
