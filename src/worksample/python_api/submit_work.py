"""`submit`: work made elsewhere, taken in and graded like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .event_loops import call, call_async
from .run_results import Run, named
from .stores_and_packages import opened

if TYPE_CHECKING:
    from worksample.experiments.hand_in import HandedIn
    from worksample.tasks import Package

    from .stores_and_packages import Where


def submit(
    path: str | Path, task: str | Path | Package, *, entrant: str, origin: str = "agent", store: Where = None,
    grade: bool = True, sandbox: str = "bubblewrap", experiment: str | Run = "", **known: Any,
) -> HandedIn:  # fmt: skip
    """Hand in a folder or a zip that `entrant` made for a task: the stored submission, and its evaluation.

    `origin`: `person`, or `agent` for an agent elsewhere (`external` is the same). `known`: instance, at (a datetime),
    minutes, cost (US dollars), author; what is not given is unknown, and never 0. `experiment`: its rounds judge the
    work instead, once it is resumed; then the same work given again is taken once, and `repeat` tells several pieces
    apart.
    """
    return call(lambda stop: _submit(path, task, entrant, origin, store, grade, sandbox, experiment, known))


async def submit_async(
    path: str | Path, task: str | Path | Package, *, entrant: str, origin: str = "agent", store: Where = None,
    grade: bool = True, sandbox: str = "bubblewrap", experiment: str | Run = "", **known: Any,
) -> HandedIn:  # fmt: skip
    """As `submit`."""
    return await call_async(lambda stop: _submit(path, task, entrant, origin, store, grade, sandbox, experiment, known))


def _submit(
    path: str | Path, task: str | Path | Package, entrant: str, origin: str, store: Where, grade: bool, sandbox: str,
    experiment: str | Run, known: dict[str, Any],
) -> HandedIn:  # fmt: skip
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.experiments.hand_in import HandInRequest, hand_in_and_grade
    from worksample.tasks import Package

    folder = task.root if isinstance(task, Package) else Path(task)
    what = replace(HandInRequest(Path(path), folder, entrant, origin), **known)
    place = experiment.store if store is None and isinstance(experiment, Run) else store
    with opened(place, create=not experiment) as open_:
        if experiment:
            what = replace(what, experiment=find_experiment(open_, named(experiment), planned=True))
        return hand_in_and_grade(open_, what, grade_now=grade, sandbox=sandbox)
