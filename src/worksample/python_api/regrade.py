"""`grade`: stored submissions graded anew, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .event_loops import call, call_async
from .run_results import Run, named
from .stores_and_packages import opened

if TYPE_CHECKING:
    import polars as pl

    from worksample.experiments.regrade_pipeline import Regraded, Regrading
    from worksample.records import Experiment

    from .stores_and_packages import Where


@dataclass(frozen=True)
class Graded:
    """A new round and what it changed. `adopted`: it decides from now on."""

    regraded: Regraded

    @property
    def adopted(self) -> bool:
        return self.regraded.adopted

    @property
    def ungraded(self) -> int:
        """Submissions without a grade."""
        return self.regraded.tally.ungraded

    @property
    def changes(self) -> pl.DataFrame:
        """A row per submission that stands otherwise: subject, entrant, instance, old, new, reasons."""
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
    store: Where = None, progress: bool = True, **options: Any,
) -> Graded:  # fmt: skip
    """Grade the submissions of an experiment anew, by default of the latest, or those named; nothing is run again.

    `tasks`: folders whose graders are taken as they are now. `options`: protocol, by (`program` or `judge`),
    reason, graders, sandbox, author, judges, prices, services. The new round is put in force unless a submission would
    lose its verdict.
    """
    return call(lambda stop: _grade(experiment, tasks, submissions, store, progress, options))


async def grade_async(
    experiment: str | Run = "", *, tasks: Sequence[str | Path] = (), submissions: Sequence[str] = (),
    store: Where = None, progress: bool = True, **options: Any,
) -> Graded:  # fmt: skip
    """As `grade`."""
    return await call_async(lambda stop: _grade(experiment, tasks, submissions, store, progress, options))


def _grade(
    experiment: str | Run, tasks: Sequence[str | Path], submissions: Sequence[str], store: Where, progress: bool,
    options: dict[str, Any],
) -> Graded:  # fmt: skip
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.experiments.regrade_pipeline import regrade

    from .progress import watcher

    with opened(experiment.store if store is None and isinstance(experiment, Run) else store) as open_:
        found = None if submissions else find_experiment(open_, named(experiment))
        what = _regrading(found, tasks, submissions, options)
        return Graded(regrade(open_, what, watcher(silent=not progress)))


JUDGING = ("judges", "prices", "services")
ALLOWED = ("protocol", "by", "reason", "graders", "sandbox", "author", *JUDGING)


def _regrading(
    found: Experiment | None, tasks: Sequence[str | Path], submissions: Sequence[str], given: dict[str, Any]
) -> Regrading:
    """UsageError for an option that there is none of."""
    from worksample.errors import UsageError
    from worksample.experiments.config import default_author
    from worksample.experiments.config_file import judging_of
    from worksample.experiments.experiment_runner import RunOptions
    from worksample.experiments.regrade_pipeline import Regrading
    from worksample.records import EvaluatorKind, Protocol
    from worksample.records.enum_members import member

    unknown = sorted(set(given) - set(ALLOWED))
    if unknown:
        raise UsageError(f"grade has no option {unknown[0]!r}", next=f"one of {', '.join(ALLOWED)}")
    asked = judging_of(found, {key: given[key] for key in JUDGING if key in given})
    options = RunOptions(graders=given.get("graders", 2), **{key: getattr(asked, key) for key in JUDGING})
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
        options=options,
        sandbox=given.get("sandbox") or (found.lock.sandbox if found else "bubblewrap"),
    )
