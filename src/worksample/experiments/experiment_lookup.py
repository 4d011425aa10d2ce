"""Lookup of experiments by name."""

from __future__ import annotations

from worksample.errors import UsageError
from worksample.records import Experiment
from worksample.store import Store

from .work_without_experiment import handed_in_alone


def find_experiment(store: Store, name: str = "", *, planned: bool = False) -> Experiment:
    """Find an experiment by its id, by its name (the latest experiment of that name), or by the start of its id.

    Without a name, return the latest experiment that has a trial, because an experiment that could not start has no
    results. With `planned`, return the latest experiment in any case. Raises UsageError if no experiment is found, or
    if experiments of different names have ids with the same start.
    """
    known = sorted(store.find(Experiment), key=lambda e: (e.at, e.id))
    if not known:
        if handed_in_alone(store):
            raise UsageError(
                "the store holds no experiment, only work that was handed in without one",
                next="worksample list --handed-in",
            )
        raise UsageError("the store holds no experiment", next="worksample demo")
    if not name:
        return known[-1] if planned else next((e for e in reversed(known) if _was_tried(store, e)), known[-1])
    fitting = [e for e in known if e.id == name] or [e for e in known if e.name == name]
    if not fitting:
        fitting = [e for e in known if e.id.startswith(name)]
        if len({e.id for e in fitting}) > 1:
            raise UsageError(
                f"{name!r} fits several experiments: {', '.join(e.id for e in fitting)}", next="type one of these ids"
            )
    if not fitting:
        names = ", ".join(dict.fromkeys(e.name for e in reversed(known)))
        raise UsageError(f"no experiment {name!r}; there are: {names}", next="worksample list")
    return fitting[-1]


def _was_tried(store: Store, experiment: Experiment) -> bool:
    from sqlalchemy import select

    from worksample.store import schema

    trials = schema.trials.c
    with store.database.reading() as connection:
        query = select(trials.id).where(trials.experiment == experiment.id).limit(1)
        return connection.execute(query).first() is not None


def others_of_name(store: Store, experiment: Experiment) -> list[Experiment]:
    """Return the other experiments that have the same name as this experiment, the oldest first."""
    return [e for e in store.find(Experiment, name=experiment.name) if e.id != experiment.id]


def short_name(store: Store, experiment: Experiment) -> str:
    """Return the text that a user can type to name an experiment.

    This is the experiment's name, or its id if a later experiment has the same name. An experiment that is not stored
    yet counts as the latest of its name.
    """
    known = sorted(store.find(Experiment, name=experiment.name), key=lambda e: (e.at, e.id))
    earlier = experiment.id in [e.id for e in known[:-1]]
    return experiment.id if earlier else experiment.name
