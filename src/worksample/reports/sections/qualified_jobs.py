"""Qualification of the jobs that agents tried (UpBench 3.2 and 3.3)."""

from __future__ import annotations

from collections.abc import Iterator

from worksample.people.quality.qualification_funnel import funnel, rounds_of_jobs
from worksample.records import Instance
from worksample.results.result_set import ResultSet

from .figure_settings import MeasureConfig
from .section import Section, SectionRow


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield a funnel for each qualification of jobs of the experiments."""
    store = results.store
    tried = {id for e in results.experiments for id in e.lock.instances}
    contracts = {job.contract for id in tried if (job := store.get(Instance, id).about.job) is not None}
    if not contracts:
        return
    for round in rounds_of_jobs(store):
        found = funnel(store, round.id)
        mine = sum(j.contract in contracts and bool(j.passed) for j in found.jobs)
        if not any(j.contract in contracts for j in found.jobs):
            continue
        rows = tuple(SectionRow(what, None, (str(count),)) for what, count in found.steps)
        notes = (f"of the jobs that agents tried here {mine} of {len(contracts)} qualified in this round",)
        yield Section(
            f"qualification-{round.id[:8]}", "From a list to tasks", "UpBench 3.2, 3.3", ("jobs",), rows, notes
        )
