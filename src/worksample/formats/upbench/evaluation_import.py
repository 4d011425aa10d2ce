"""Import of rows of `evaluations` and `qualifications` as records: evaluations, and the rounds that they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from worksample.files.tables.cell_values import InvalidCell
from worksample.records import (
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Criteria,
    Evaluation,
    EvaluationOutcome,
    EvaluatorKind,
    Instance,
    Labels,
    Protocol,
    ResolutionRule,
    Round,
    Submission,
    digest_of,
)

from .cell_json import FAIL, PASS, read_feedback, read_labels
from .submission_import import AUTHOR, UNSUCCESSFUL_REASON
from .table_export import RECORD_KEY, stored_id
from .tables import Row

_JUDGEMENTS = {"pass": PASS, "passed": PASS, "true": PASS, "fail": FAIL, "failed": FAIL, "false": FAIL}


def evaluation_id(table: str, own: str) -> str:
    """Return the record's id for a row. It depends on the table, because rows of both tables may have the same id."""
    return digest_of([RECORD_KEY, table, own])[:32]


def round_of(experiment: str, protocol: Protocol, by: EvaluatorKind, instances: Iterable[Instance], at: Any) -> Round:
    """Return the round of an experiment's evaluations by people, or by judges."""
    gradings = {i.id: i.grading_digest(protocol) for i in instances if protocol in i.grading}
    return Round(
        id=round_id(experiment, protocol, by),
        protocol=protocol,
        by=by,
        experiment=experiment,
        rule=ResolutionRule.MAJORITY,
        gradings=gradings,
        reason="imported from UpBench's tables",
        author=AUTHOR,
        at=at,
        versions={"imported": "1"},
    )


def round_id(experiment: str, protocol: Protocol, by: EvaluatorKind) -> str:
    """Return the id of the round of an experiment's evaluations by people, or by judges."""
    return digest_of([RECORD_KEY, experiment, protocol.value, by.value])[:32]


def protocol_of(row: Row) -> Protocol:
    """Return the protocol of a row of `evaluations`: a judgment of the whole work, or of each criterion."""
    feedback = row["submission_feedback"]
    return Protocol.HOLISTIC if isinstance(feedback, dict) and "holistic" in feedback else Protocol.RUBRIC


def judgement_of(row: Row) -> str | None:
    """Return `pass` or `fail` for a row of `evaluations`; None if it does not say. Raises InvalidCell."""
    word = row["judgement"]
    if word is not None and word.strip().lower() not in _JUDGEMENTS:
        raise InvalidCell(f"judgement: {word[:40]!r} is neither {PASS} nor {FAIL}")
    if row["submission_feedback"] in (None, [], {}) and row["is_successful_run"] is not False:
        raise InvalidCell("submission_feedback: is missing, although is_successful_run is not false")
    return None if word is None else _JUDGEMENTS[word.strip().lower()]


def evaluation_of(row: Row, subject: Submission, instance: Instance, by: EvaluatorKind) -> tuple[Protocol, Evaluation]:
    """Return the protocol and record for a row of `evaluations`. Raises InvalidCell."""
    criteria = instance.grading[Protocol.RUBRIC].criteria if Protocol.RUBRIC in instance.grading else None
    payload = None
    if row["submission_feedback"] not in (None, [], {}):
        payload = read_feedback(row["submission_feedback"], criteria or Criteria())
    protocol = protocol_of(row)
    rest: dict[str, Any] = {"id": stored_id(row["evaluation_id"]), "judgement": judgement_of(row)}
    if row["evaluation_ts"] is None:
        rest["undated"] = True
    return protocol, Evaluation(
        id=evaluation_id("evaluations", row["evaluation_id"]),
        round=round_id(subject.experiment or "", protocol, by),
        subject=subject.id,
        instance=instance.id,
        grading=instance.grading_digest(protocol) if protocol in instance.grading else "",
        evaluator=row["evaluator_id"],
        outcome=EvaluationOutcome.GIVEN if payload else EvaluationOutcome.DECLINED,
        payload=payload,
        reason="" if payload else UNSUCCESSFUL_REASON,
        minutes=row["minutes"],
        record={RECORD_KEY: rest},
        author=AUTHOR,
        at=row["evaluation_ts"] or subject.at,
    )


def qualification_of(row: Row, round: str, instance: str, criteria: Any) -> Evaluation:
    """Return the record for a row of `qualifications`. Raises InvalidCell."""
    if row["qualification_ts"] is None:
        raise InvalidCell("qualification_ts: is missing")
    payload: Labels | None = read_labels(row, criteria)
    if payload is None and row["is_successful_run"] is not False:
        raise InvalidCell("the row has no answers, although is_successful_run is not false")
    return Evaluation(
        id=evaluation_id("qualifications", row["qualification_id"]),
        round=round,
        subject=instance,
        instance=instance,
        evaluator=row["evaluator_id"],
        outcome=EvaluationOutcome.GIVEN if payload else EvaluationOutcome.DECLINED,
        payload=payload,
        reason="" if payload else UNSUCCESSFUL_REASON,
        record={RECORD_KEY: {"id": stored_id(row["qualification_id"])}},
        author=AUTHOR,
        at=row["qualification_ts"],
    )


def success_amendment(
    target: AmendmentTarget, id: str, at: Any, action: AmendmentAction = AmendmentAction.STRIKE, n: int = 0
) -> Amendment:
    """Return the amendment that strikes or restores a record, as the row's `is_successful_run` says.

    n: number of earlier amendments of the record.
    """
    return Amendment(
        id=digest_of([RECORD_KEY, target.value, id, action.value, n])[:32], action=action, target=target, target_id=id,
        reason=UNSUCCESSFUL_REASON if action is AmendmentAction.STRIKE else "its row says is_successful_run true",
        author=AUTHOR, at=at,
    )  # fmt: skip
