"""Conversion of records to rows of the index."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from worksample.records import (
    Agent,
    Amendment,
    AssignmentEvent,
    Evaluation,
    Evaluator,
    Experiment,
    GradePayload,
    Holistic,
    Instance,
    Pairwise,
    Record,
    Round,
    Slot,
    Submission,
    Suite,
    Task,
    Trial,
    Usage,
    canonical,
)

WORKERS = ("agent", "person")
"""Roles in a trial's usage whose costs are costs of the work itself."""
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

Row = dict[str, Any]


def micros(moment: datetime) -> int:
    """Return a time as the number of microseconds since 1970 in UTC."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def body(record: Record) -> str:
    """Return the canonical JSON of a record."""
    return canonical(record.plain()).decode()


def row(record: Record, object: str) -> Row:
    """Return all columns of a record. `object` is the digest of the object that contains the record. The column `live`
    of a trial is set later.
    """
    fixed = {"id": record.id, "object": object, "schema_version": record.schema_version, "body": body(record)}
    return fixed | _COLUMNS[record.kind](record)


def _plain(*names: str) -> Callable[[Any], Row]:
    return lambda record: {name: getattr(record, name) for name in names}


def _task(r: Task) -> Row:
    return _plain("name", "version", "package")(r) | {"ingested": micros(r.ingested)}


def _instance(r: Instance) -> Row:
    value, hours = r.about.value, r.about.hours
    return {
        "task": r.task,
        "name": r.name,
        "key": r.key,
        "version": r.version,
        "work": r.work_digest,
        "capture": r.capture_digest,
        "tier": r.about.tier,
        "category": r.about.category,
        "value_low": value.low if value else None,
        "value_high": value.high if value else None,
        "value_currency": value.currency if value else None,
        "value_source": value.source.value if value else None,
        "hours_low": hours.low if hours else None,
        "hours_high": hours.high if hours else None,
        "hours_source": hours.source.value if hours else None,
    }


def _experiment(r: Experiment) -> Row:
    return {"name": r.name, "author": r.author, "at": micros(r.at)}


def _trial(r: Trial) -> Row:
    own = r.usage.get("agent", Usage())
    mine = [r.usage[role] for role in WORKERS if role in r.usage] or [own]
    costs = [u.cost for u in mine if u.cost is not None]
    if "person" in r.usage and r.usage["person"].cost is None:
        costs = []  # the cost of the person's time is unknown
    others = [u for role, u in r.usage.items() if role not in WORKERS]
    paid = [u.cost for u in others if u.cost is not None]
    return {
        "slot": r.slot,
        "experiment": r.experiment,
        "agent": r.agent,
        "instance": r.instance,
        "try_number": r.try_number,
        "generation": r.generation,
        "ending": r.outcome.ending.value,
        "cause": r.outcome.cause.value if r.outcome.cause else None,
        "reason": r.outcome.reason,
        "finished": r.outcome.finished,
        "live": False,
        "started": micros(r.started),
        "ended": micros(r.ended),
        "working_seconds": r.working_seconds,
        "person_seconds": r.person_seconds,
        "steps": r.steps,
        "input_tokens": own.input_tokens,
        "output_tokens": own.output_tokens,
        "cache_read_tokens": own.cache_read_tokens,
        "cache_write_tokens": own.cache_write_tokens,
        "reasoning_tokens": own.reasoning_tokens,
        "tokens": own.tokens,
        "cost": sum(costs) if costs else None,
        "priced": all(u.priced for u in mine),
        "cost_at_most": at_most(mine) if costs else None,
        "estimated_calls": own.estimated,
        "cached_as_input": own.cached_as_input,
        "failed_calls": own.failed,
        "unsettled_calls": own.unsettled,
        "other_cost": sum(paid) if paid else None,
        "other_calls": sum(u.calls for u in others),
        "other_priced": all(u.priced for u in others if u.requests),
        "other_cost_at_most": at_most(others),
        "sandbox": r.sandbox,
        "log": r.log,
        "phases": json.dumps(r.phases, sort_keys=True),
    }


def at_most(parts: Iterable[Usage]) -> float | None:
    """Return the maximum total cost of all parts in US dollars; None if a part has no price."""
    amounts = [u.cost_at_most for u in parts if u.requests or u.cost is not None]
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if amounts and len(known) == len(amounts) else None


def judge_usage(r: Evaluation) -> list[Usage]:
    """Return the usage of the judges of an evaluation, one entry for each role."""
    kept = r.record.get("usage", {})
    return [Usage.model_validate(used) for used in kept.values()] if isinstance(kept, dict) else []


def _submission(r: Submission) -> Row:
    output = r.parts.get("output")
    return {
        "instance": r.instance,
        "origin": r.origin.value,
        "entrant": r.entrant,
        "at": micros(r.at),
        "trial": r.trial,
        "experiment": r.experiment,
        "control": r.control,
        "content": r.content,
        "status": output.status.value if output else "absent",
        "reason": output.reason if output else "",
        "files": output.files if output else 0,
        "size": output.size if output else 0,
        "reported_cost": r.reported.cost,
        "reported_minutes": r.reported.minutes,
        "author": r.author,
    }


def _round(r: Round) -> Row:
    return {
        "protocol": r.protocol.value,
        "purpose": r.purpose.value,
        "over": r.over,
        "experiment": r.experiment,
        "rule": r.rule.value,
        "at": micros(r.at),
    }


def _evaluator(r: Evaluator) -> Row:
    return {"name": r.name, "type": r.type.value, "version": r.version, "at": micros(r.at)}


def _evaluation(r: Evaluation) -> Row:
    said = r.payload
    grade = said if isinstance(said, GradePayload) else None
    pair = said if isinstance(said, Pairwise) else None
    # If no part of a grade applies, it has no score.
    counts = grade is not None and not grade.void
    judges = judge_usage(r)
    score = (grade.score if counts else None) if grade else float(said.score) if isinstance(said, Holistic) else None
    return {
        "round": r.round,
        "subject": r.subject,
        "second": r.second,
        "reference": r.reference,
        "instance": r.instance,
        "grading": r.grading,
        "evaluator": r.evaluator,
        "draw": r.draw,
        "outcome": r.outcome.value,
        "cause": r.cause.value if r.cause else None,
        "reason": r.reason or (grade.reason if grade else ""),
        "payload": said.type if said else None,
        "score": score,
        "full": grade.full if grade and counts else None,
        "partial": grade.partial if grade and counts else None,
        "completion": pair.completion.value if pair else None,
        "quality": pair.quality.value if pair else None,
        "minutes": r.minutes,
        "cost": r.cost,
        "calls": sum(u.calls for u in judges),
        "priced": all(u.priced for u in judges if u.requests),
        "cost_at_most": at_most(judges),
        "author": r.author,
        "at": micros(r.at),
    }


def _amendment(r: Amendment) -> Row:
    return {
        "action": r.action.value,
        "target": r.target.value,
        "target_id": r.target_id,
        "author": r.author,
        "at": micros(r.at),
    }


_COLUMNS: dict[str, Callable[[Any], Row]] = {
    Task.kind: _task,
    Instance.kind: _instance,
    Suite.kind: _plain("name", "version", "visibility"),
    Agent.kind: _plain("name", "harness", "model"),
    Experiment.kind: _experiment,
    Slot.kind: _plain("experiment", "agent", "instance", "arm", "attempt", "repeat", "not_attemptable"),
    Trial.kind: _trial,
    AssignmentEvent.kind: lambda r: _plain("slot", "number", "person")(r) | {"act": r.act.value, "at": micros(r.at)},
    Submission.kind: _submission,
    Round.kind: _round,
    Evaluator.kind: _evaluator,
    Evaluation.kind: _evaluation,
    Amendment.kind: _amendment,
}
