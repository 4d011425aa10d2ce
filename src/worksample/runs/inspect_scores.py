"""Grades in Inspect's `.eval` logs. With these grades, `inspect view` shows scores beside the transcripts."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from worksample.records import Evaluation, EvaluationOutcome, GradePayload, Round, Submission, Trial
from worksample.store import Store

if TYPE_CHECKING:
    from inspect_ai.scorer import Score

NAME = "worksample"


def write_scores(store: Store, experiment: str, round: str) -> int:
    """Write the grades of a round into the logs of an experiment. Return the number of samples that received a score.

    An ungraded sample gets no score (never 0), and does not count in the mean of the log. A log without new grades is
    not written again, and only its summaries are read. The score of a regrade replaces the earlier score, and the log
    keeps the history.

    Logs that are incomplete, or that another process still writes, are left unchanged; the store has the grades in any
    case. Raises RecordMissing if the round is not in the store.
    """
    store.get(Round, round)
    latest: dict[str, Evaluation] = {}
    for evaluation in store.find(Evaluation, round=round):
        if evaluation.outcome is EvaluationOutcome.GIVEN:
            latest[evaluation.subject] = evaluation
    trials = {trial.id: trial for trial in store.find(Trial, experiment=experiment)}
    by_log: dict[str, list[tuple[Trial, Evaluation]]] = defaultdict(list)
    for submission in store.find(Submission, experiment=experiment):
        trial = trials.get(submission.trial or "")
        given = latest.get(submission.id)
        if trial is not None and given is not None and trial.log:
            by_log[trial.log].append((trial, given))
    return sum(_write(store.logs / log, round, graded) for log, graded in by_log.items())


def _write(path: Path, round: str, graded: Sequence[tuple[Trial, Evaluation]]) -> int:
    from inspect_ai.log import (
        ProvenanceData,
        edit_score,
        read_eval_log,
        read_eval_log_sample_summaries,
        recompute_metrics,
        write_eval_log,
    )
    from inspect_ai.scorer import ScoreEdit
    from zstandard import ZstdError

    try:
        if read_eval_log(str(path), header_only=True).status == "started":
            return 0
        known = {str(sample.id): sample.scores for sample in read_eval_log_sample_summaries(str(path))}
        graded = [(t, e) for t, e in graded if t.id in known and not _has(known[t.id], e, round)]
        if not graded:
            return 0
        log = read_eval_log(str(path))
    except (OSError, ValueError, BadZipFile, ZstdError):
        return 0
    samples = {str(sample.id): sample for sample in log.samples or ()}
    done = 0
    for trial, evaluation in graded:
        sample = samples.get(trial.id)
        if sample is None or not isinstance(evaluation.payload, GradePayload):
            continue
        grade = evaluation.payload
        edit = ScoreEdit(
            value=grade.score,
            explanation=grade.reason or None,
            metadata={"round": round, "evaluation": evaluation.id, "full": grade.full, **_parts(grade)},
            provenance=ProvenanceData(author=evaluation.author or NAME, reason=f"round {round}"),
        )
        edit_score(log, trial.id, NAME, edit, recompute_metrics=False)
        done += 1
    if done:
        recompute_metrics(log)
        # Replace the file atomically: another run of the experiment may read it now.
        draft = path.with_name(f".{uuid.uuid4().hex}.eval")
        try:
            write_eval_log(log, str(draft))
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    return done


def _has(scores: dict[str, Score] | None, evaluation: Evaluation, round: str) -> bool:
    old, grade = (scores or {}).get(NAME), evaluation.payload
    if old is None or not isinstance(grade, GradePayload):
        return False
    return old.value == grade.score and (old.metadata or {}).get("round") == round


def _parts(grade: GradePayload) -> dict[str, Any]:
    return {"parts": {part.name: part.fraction for part in grade.parts}}
