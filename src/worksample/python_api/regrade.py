"""`grade`: grade stored submissions again, and show what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .event_loops import call, call_async
from .keyword_arguments import GradeOptions, refuse_unknown
from .run_results import Run, name_of
from .stores_and_packages import use_store

if TYPE_CHECKING:
    import polars as pl

    from worksample.experiments.regrade_pipeline import Regraded, Regrading
    from worksample.records import Experiment

    from .stores_and_packages import Where


@dataclass(frozen=True)
class Graded:
    """A new round and its changes. `adopted`: the round decides from now on."""

    regraded: Regraded

    @property
    def adopted(self) -> bool:
        return self.regraded.adopted

    @property
    def ungraded(self) -> int:
        """Return the number of submissions without a grade."""
        return self.regraded.tally.ungraded

    @property
    def changes(self) -> pl.DataFrame:
        """Return a row per submission with another result: subject, entrant, instance, old, new, reasons."""
        import polars as pl

        rows = [{**asdict(one), "reasons": "\n".join(one.reasons)} for one in self.regraded.changes]
        columns = {"subject": pl.String, "entrant": pl.String, "instance": pl.String, "old": pl.Float64,
                   "new": pl.Float64, "reasons": pl.String}  # fmt: skip
        return pl.DataFrame(rows, schema_overrides=columns) if rows else pl.DataFrame(schema=columns)

    def __repr__(self) -> str:
        done = self.regraded
        return (
            f"Graded({done.tally.graded} graded, {done.tally.ungraded} ungraded, {len(done.changes)} changed, "
            f"{'adopted' if done.adopted else 'not adopted'})"
        )


def grade(
    experiment: str | Run = "", *, tasks: Sequence[str | Path] = (), submissions: Sequence[str] = (),
    store: Where = None, progress: bool = True, **options: Unpack[GradeOptions],
) -> Graded:  # fmt: skip
    """Grade stored submissions again in a new round, and return what changed; no agent runs again.

    The new round decides from now on, unless a submission would lose its verdict by it.

    - `experiment="first"`: its name or id, or the `Run`; default: the store's latest.
    - `tasks=["my-task"]`: folders with current versions of the graders, to grade with.
    - `submissions=["sub-1"]`: ids of submissions to grade, instead of all of an experiment.
    - `store="results"`: the store's folder or URL, or an open `Store`; default: the store of the `Run`, else as for
      `run`.
    - `progress=False`: print nothing while it runs.
    - `protocol="rubric"`: the protocol to grade by; default: the experiment's first.
    - `by="judge"`: grade by the judge models; default: by the program.
    - `reason="grader fixed"`: why; kept with the round.
    - `graders=4`: submissions graded at once; default: 2.
    - `sandbox="docker"`: the sandbox of the graders; default: as planned.
    - `author="ann"`: who grades; default: `$WORKSAMPLE_AUTHOR`, else the account's name.
    - `judges={"judge": {"model": "openai/gpt-5"}}`: other judges than planned.
    - `prices={"openai/gpt-5": {"input": 1.25, "output": 10}}`: prices, over those planned.
    - `services={"*": {"retries": 2}}`: how models' services are reached, over what was planned.
    """
    return call(lambda stop: _grade(experiment, tasks, submissions, store, progress, options))


async def grade_async(
    experiment: str | Run = "", *, tasks: Sequence[str | Path] = (), submissions: Sequence[str] = (),
    store: Where = None, progress: bool = True, **options: Unpack[GradeOptions],
) -> Graded:  # fmt: skip
    """Grade as `grade` does, with the same arguments; for code that runs in an event loop."""
    return await call_async(lambda stop: _grade(experiment, tasks, submissions, store, progress, options))


def _grade(
    experiment: str | Run, tasks: Sequence[str | Path], submissions: Sequence[str], store: Where, progress: bool,
    options: GradeOptions,
) -> Graded:  # fmt: skip
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.experiments.regrade_pipeline import regrade
    from worksample.experiments.run_progress import watcher

    with use_store(experiment.store if store is None and isinstance(experiment, Run) else store) as open_:
        found = None if submissions else find_experiment(open_, name_of(experiment))
        what = _regrading(found, tasks, submissions, options)
        return Graded(regrade(open_, what, watcher(silent=not progress)))


JUDGING = ("judges", "prices", "services")


def _regrading(
    found: Experiment | None, tasks: Sequence[str | Path], submissions: Sequence[str], options: GradeOptions
) -> Regrading:
    """Return the request to regrade. Raises UsageError for an unknown option."""
    from worksample.experiments.config import default_author
    from worksample.experiments.config_file import judging_of
    from worksample.experiments.experiment_runner import RunOptions
    from worksample.experiments.regrade_pipeline import Regrading
    from worksample.records import EvaluatorKind, Protocol
    from worksample.records.enum_members import member

    refuse_unknown("grade", options, GradeOptions)
    given: dict[str, Any] = {**options}
    asked = judging_of(found, {key: given[key] for key in JUDGING if key in given})
    how = RunOptions(graders=given.get("graders", 2), **{key: getattr(asked, key) for key in JUDGING})
    return Regrading(
        experiment=found,
        submissions=tuple(submissions),
        packages=tuple(Path(folder) for folder in tasks),
        protocol=member(
            Protocol, given.get("protocol") or (found.lock.protocol if found else Protocol.PROGRAM), "protocol"
        ),
        by=member(EvaluatorKind, given.get("by", "program"), "by"),
        author=given.get("author") or default_author(),
        reason=given.get("reason", ""),
        options=how,
        sandbox=given.get("sandbox") or (found.lock.sandbox if found else "bubblewrap"),
    )
