"""`submit`: hand in work made elsewhere, which is then graded like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from .event_loops import call, call_async
from .keyword_arguments import SubmissionFacts, refuse_unknown
from .run_results import Run, name_of
from .stores_and_packages import use_store

if TYPE_CHECKING:
    from worksample.experiments.hand_in import HandedIn
    from worksample.tasks import Package

    from .stores_and_packages import Where


def submit(
    path: str | Path, task: str | Path | Package, *, entrant: str, origin: str = "agent", store: Where = None,
    grade: bool = True, sandbox: str = "bubblewrap", experiment: str | Run = "", **known: Unpack[SubmissionFacts],
) -> HandedIn:  # fmt: skip
    """Hand in work that was made elsewhere, and return the stored submission with its evaluation.

    - `path="work.zip"`: a folder or a zip.
    - `task="my-task"`: the folder of the task package that the work is for, or a `worksample.task`.
    - `entrant="ann"`: who made the work.
    - `origin="person"`: `person`, or `agent` for an agent elsewhere (`external` means the same).
    - `store="results"`: the store's folder or URL, or an open `Store`; default: the store of the `Run`, else as for
      `run`.
    - `grade=False`: store the work without grading it.
    - `sandbox="docker"`: the sandbox of the grader; default: `bubblewrap`.
    - `experiment="first"`: an experiment whose rounds judge the work when it is resumed, instead of a grade now. The
      same work handed in twice counts once.
    - `instance="small"`: which instance of the task; needed if there are several.
    - `at=datetime(2026, 1, 31)`: when the work was done; a time without a zone is UTC.
    - `minutes=90`: how long it took.
    - `cost=12.5`: what it cost, in US dollars.
    - `author="bob"`: who hands it in; default: `$WORKSAMPLE_AUTHOR`, else the account's name.
    - `repeat=2`: tells several pieces by one entrant on one instance apart, within an experiment.

    A fact that is left out is unknown, and never counted as 0.
    """
    refuse_unknown("submit", known, SubmissionFacts)
    return call(lambda stop: _submit(path, task, entrant, origin, store, grade, sandbox, experiment, known))


async def submit_async(
    path: str | Path, task: str | Path | Package, *, entrant: str, origin: str = "agent", store: Where = None,
    grade: bool = True, sandbox: str = "bubblewrap", experiment: str | Run = "", **known: Unpack[SubmissionFacts],
) -> HandedIn:  # fmt: skip
    """Hand in work as `submit` does, with the same arguments; for code that runs in an event loop."""
    refuse_unknown("submit", known, SubmissionFacts)
    return await call_async(lambda stop: _submit(path, task, entrant, origin, store, grade, sandbox, experiment, known))


def _submit(
    path: str | Path, task: str | Path | Package, entrant: str, origin: str, store: Where, grade: bool, sandbox: str,
    experiment: str | Run, known: SubmissionFacts,
) -> HandedIn:  # fmt: skip
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.experiments.hand_in import HandInRequest, hand_in_and_grade
    from worksample.tasks import Package

    folder = task.root if isinstance(task, Package) else Path(task)
    what = replace(HandInRequest(Path(path), folder, entrant, origin), **known)
    place = experiment.store if store is None and isinstance(experiment, Run) else store
    with use_store(place, create=not experiment) as open_:
        if experiment:
            what = replace(what, experiment=find_experiment(open_, name_of(experiment), planned=True))
        return hand_in_and_grade(open_, what, grade_now=grade, sandbox=sandbox)
