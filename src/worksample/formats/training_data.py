"""Evaluations by people, judges and programs as training data: feedback, preference pairs and rewards.

UpBench keeps per-criterion feedback for learning (3.5, 5.3). Every row carries the task's licence, provenance and
canary; work of private suites is left out and counted unless it is requested.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.errors import RecordMissing, UsageError
from worksample.records import (
    Amendment,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    Experiment,
    GradePayload,
    Instance,
    Pairwise,
    PairwiseChoice,
    Protocol,
    Round,
    Submission,
    Suite,
    struck,
    targets_of,
)
from worksample.results.result_set import VALID, ResultSet
from worksample.store import Store
from worksample.store.error_translation import translate_os_errors

TRAINING_FORMATS = ("jsonl", "parquet")
TABLES: dict[str, dict[str, str]] = {
    "feedback": {
        "evaluation": "", "round": "", "evaluator_kind": "", "submission": "", "agent": "", "criterion": "", "text": "",
        "importance": "", "points": "float", "mark": "", "fraction": "float", "feedback": "",
    },
    "preferences": {
        "evaluation": "", "round": "", "evaluator_kind": "", "question": "", "chosen": "", "rejected": "",
        "first": "", "second": "", "reason": "",
    },
    "rewards": {
        "submission": "", "agent": "", "protocol": "", "attempt": "int", "score": "float", "passed": "bool",
        "label": "int", "output": "",
    },
}  # fmt: skip
"""Table -> its own columns and their types ("" is text)."""
SHARED = ("task", "instance", "brief", "category", "licence", "provenance", "canary", "visibility")
"""Columns at the end of every table."""
_MARKS: dict[bool, str] = {True: "pass", False: "fail"}


@dataclass(frozen=True, slots=True)
class TrainingExport:
    """The files and rows that were written."""

    rows: dict[str, int]
    """Table -> number of rows."""
    private: int
    """Number of rows left out because their suite is private."""
    files: tuple[Path, ...]


def export_training(
    store: Store, out: Path, experiments: Iterable[Experiment], *, format: str = "jsonl", private: bool = False
) -> TrainingExport:
    """Write the tables `feedback`, `preferences` and `rewards` of these experiments below `out`.

    Struck work is left out. A pair without a preference has no `chosen`; undecided work has no reward. `output` is the
    digest of the deliverables' manifest, whose files `worksample store cat` prints. Raises UsageError, StoreFull.
    """
    if format not in TRAINING_FORMATS:
        raise UsageError(f"unknown format {format!r} for training data", next=f"one of {', '.join(TRAINING_FORMATS)}")
    chosen = tuple(experiments)
    builder = _TrainingRows(store, chosen)
    tables = {
        "feedback": list(builder.feedback()),
        "preferences": list(builder.preferences()),
        "rewards": list(builder.rewards()),
    }
    left_out = 0
    if not private:
        open_ = {name: [r for r in rows if r["visibility"] != "private"] for name, rows in tables.items()}
        left_out = sum(map(len, tables.values())) - sum(map(len, open_.values()))
        tables = open_
    files = tuple(_write(out, name, rows, format) for name, rows in tables.items())
    return TrainingExport({name: len(rows) for name, rows in tables.items()}, left_out, files)


class _TrainingRows:
    """Rows of the tables, from the evaluations of some experiments that are not struck."""

    def __init__(self, store: Store, experiments: tuple[Experiment, ...]) -> None:
        self.store, self.experiments = store, experiments
        self.private = {i for s in store.find(Suite) if s.visibility == "private" for i in s.instances}
        self.planned = {i for e in experiments for i in e.lock.instances}
        struck_records = struck(store.find(Amendment))
        inside = {None, *(e.id for e in experiments)}
        self.submissions = {
            s.id: s for s in store.find(Submission) if s.instance in self.planned and s.experiment in inside
        }
        self.evaluations = [
            e
            for e in store.find(Evaluation)
            if e.subject in self.submissions
            and e.outcome is EvaluationOutcome.GIVEN
            and not struck_records & set(targets_of(e))
        ]
        self.kinds = {e.id: e.type.value for e in store.find(Evaluator)}
        self.rounds = {r.id: r for r in store.find(Round)}
        self._instances: dict[str, Instance] = {}

    def feedback(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each criterion of each grade."""
        for e in self.evaluations:
            if not isinstance(e.payload, GradePayload):
                continue
            texts = self._texts(e)
            for part in e.payload.leaves:
                yield {
                    **self._heading(e), "submission": e.subject, "agent": self.submissions[e.subject].entrant,
                    "criterion": part.name, "text": texts.get(part.name, ""),
                    "importance": part.importance.value if part.importance else None, "points": part.points,
                    "mark": part.skip.value if part.skip else _MARKS[part.passed], "fraction": part.fraction,
                    "feedback": part.reason, **self._shared_columns(e.instance),
                }  # fmt: skip

    def preferences(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each compared pair and question: closer to completion, and better overall."""
        for e in self.evaluations:
            if not isinstance(e.payload, Pairwise) or e.second is None:
                continue
            for question in ("completion", "quality"):
                side: PairwiseChoice = getattr(e.payload, question)
                order = (e.subject, e.second) if side is not PairwiseChoice.SECOND else (e.second, e.subject)
                better, worse = (None, None) if side is PairwiseChoice.EQUAL else order
                yield {
                    **self._heading(e), "question": question, "chosen": better, "rejected": worse,
                    "first": e.subject, "second": e.second, "reason": e.payload.justification,
                    **self._shared_columns(e.instance),
                }  # fmt: skip

    def rewards(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each submission with a verdict, and each protocol."""
        seen: set[tuple[str, Protocol]] = set()
        for work, protocol in (
            (w, p) for e in self.experiments for w in [ResultSet(self.store, [e])] for p in e.lock.protocols
        ):
            for row in work.frame(protocol).iter_rows(named=True):
                # A submission from outside belongs to every experiment that plans its instance.
                if row["state"] != VALID or (row["submission"], protocol) in seen:
                    continue
                seen.add((row["submission"], protocol))
                submission = self.submissions[row["submission"]]
                output = submission.parts.get("output")
                yield {
                    "submission": submission.id, "agent": submission.entrant, "protocol": protocol.value,
                    "attempt": row["attempt"], "score": row["score"], "passed": row["passed"],
                    "label": row["holistic"], "output": output.manifest if output else None,
                    **self._shared_columns(submission.instance),
                }  # fmt: skip

    def _heading(self, e: Evaluation) -> dict[str, Any]:
        return {"evaluation": e.id, "round": e.round, "evaluator_kind": self.kinds.get(e.evaluator, "")}

    def _instance(self, id: str) -> Instance:
        if id not in self._instances:
            self._instances[id] = self.store.get(Instance, id)
        return self._instances[id]

    def _texts(self, e: Evaluation) -> dict[str, str]:
        """Return criterion -> its text in the round of this evaluation."""
        round = self.rounds.get(e.round)
        if round is None:
            raise RecordMissing(
                f"the store lacks the round {e.round} that the evaluation names",
                where=f"evaluation {e.id}",
                next="worksample store check",
            )
        grading = self._instance(e.instance).grading.get(round.protocol)
        return {leaf.id: leaf.text for leaf in grading.criteria.leaves} if grading else {}

    def _shared_columns(self, id: str) -> dict[str, Any]:
        instance = self._instance(id)
        about = instance.about
        return {
            "task": instance.task, "instance": instance.name, "brief": instance.work.brief,
            "category": about.category, "licence": about.licence, "provenance": about.provenance,
            "canary": instance.canary, "visibility": "private" if id in self.private else "public",
        }  # fmt: skip


def _write(out: Path, name: str, rows: list[dict[str, Any]], format: str) -> Path:
    import polars as pl

    types: dict[str, Any] = {"": pl.String, "float": pl.Float64, "int": pl.Int64, "bool": pl.Boolean}
    schema = {**{c: types[t] for c, t in TABLES[name].items()}, **dict.fromkeys(SHARED, pl.String)}
    frame = pl.DataFrame(rows, schema=schema)
    path = out / f"{name}.{format}"
    draft = path.with_name(path.name + ".part")
    with translate_os_errors(str(out)):
        out.mkdir(parents=True, exist_ok=True)
        if format == "jsonl":
            frame.write_ndjson(draft)
        else:
            frame.write_parquet(draft)
        draft.rename(path)
    return path
