"""All subjects of a round graded, in parallel; after a kill it goes on where it stood."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from worksample.errors import POLICY
from worksample.records import Evaluation, Given, Instance, Round, Submission, Trial

from .grade_submission import grade

if TYPE_CHECKING:
    from worksample.store import Store

TRIES = 3
"""Evaluations of one subject at most, where only passing troubles kept it from a grade."""


def wants(evaluations: Sequence[Evaluation], tries: int = TRIES) -> bool:
    """Whether a subject with these evaluations in a round is graded (again)."""
    if any(e.outcome is Given.GIVEN for e in evaluations) or len(evaluations) >= tries:
        return False
    return all(e.cause is not None and POLICY[e.cause].retry for e in evaluations)


def subjects(store: Store, round: Round) -> list[Submission]:
    """The submissions of a round: those it lists, or all of its experiment's that come from no trial or a live one."""
    if round.experiment is None:
        return [store.get(Submission, id) for id in round.subjects]
    live = {t.id for t in store.find(Trial, experiment=round.experiment, live=True)}
    found = store.find(Submission, experiment=round.experiment)
    return [s for s in found if s.trial is None or s.trial in live]


async def grade_all(
    store: Store, round: Round, *, parallel: int = 2, sandbox: str = "bubblewrap",
    on_done: Callable[[Evaluation], None] = lambda evaluation: None,
) -> None:  # fmt: skip
    """Grade every subject of a round that wants it, `parallel` boxes at once.

    on_done: told of each evaluation as it is committed. Cancelling it loses only what was under way. Raises as `grade`.
    """
    open, instances = await asyncio.to_thread(_wanting, store, round)
    queue = iter(open)

    async def work() -> None:
        for submission in queue:
            on_done(await grade(store, round, submission, instances[submission.instance], sandbox=sandbox))

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, min(parallel, len(open)))):
            group.create_task(work())


def _wanting(store: Store, round: Round) -> tuple[list[Submission], dict[str, Instance]]:
    """The subjects that want a grade, and their instances."""
    made: dict[str, list[Evaluation]] = {}
    for evaluation in store.find(Evaluation, round=round.id):
        made.setdefault(evaluation.subject, []).append(evaluation)
    open = [s for s in subjects(store, round) if s.instance in round.gradings and wants(made.get(s.id, []))]
    return open, {id: store.get(Instance, id) for id in {s.instance for s in open}}
