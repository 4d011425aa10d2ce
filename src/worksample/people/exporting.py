"""What people said, for other programs: JSON Lines, and scores for Inspect. Parquet is `worksample store export`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.records import Evaluation, Evaluator, Round, Standing, Submission
from worksample.store.faults import keeping

from .said import amendments_of, standing
from .verdicts import final_verdicts

if TYPE_CHECKING:
    from worksample.store import Store


def export_jsonl(store: Store, round: str, path: Path) -> int:
    """One line per evaluation of a round; returns how many.
    Keys: subject, second, evaluator (name), evaluator_id, outcome, the payload's own, reason, minutes, at, stands.
    Raises RecordMissing, StoreFull.
    """
    record = store.get(Round, round)
    found = store.find(Evaluation, round=record.id)
    stands = {e.id for e in standing(found, amendments_of(store))}
    names = {e.id: e.name for e in store.find(Evaluator, id=sorted({e.evaluator for e in found}))}
    return _write(path, (_line(e, names.get(e.evaluator, e.evaluator), e.id in stands) for e in found))


def _line(e: Evaluation, name: str, stands: bool) -> dict[str, Any]:
    return {
        "evaluation": e.id, "subject": e.subject, "second": e.second, "instance": e.instance, "evaluator": name,
        "evaluator_id": e.evaluator, "outcome": e.outcome.value, "payload": e.payload.plain() if e.payload else None,
        "reason": e.reason, "minutes": e.minutes, "at": e.at.isoformat(), "stands": stands,
    }  # fmt: skip


def export_precomputed(store: Store, round: str, path: Path) -> int:
    """A file for Inspect's `precomputed_scores`: one record per decided subject that is a trial's; returns how many.

    `id` is the sample's id in the `.eval` log, which is the trial's; `value` the verdict's score after audit and
    adjudication. What is undecided or ungraded has no record, so that Inspect leaves it unscored and never counts 0.
    `path` ends in `.jsonl` for JSON Lines, else it is one JSON array. Raises RecordMissing, StoreFull.
    """
    finals = final_verdicts(store, store.get(Round, round))
    rows = []
    for subject, final in sorted(finals.items()):
        verdict = final.verdict
        trial = store.get(Submission, subject).trial
        if verdict.standing is not Standing.DECIDED or trial is None:
            continue
        rows.append(
            {
                "id": trial, "value": verdict.score, "explanation": _why(store, verdict.evaluations),
                "metadata": {
                    "submission": subject, "round": round, "passed": verdict.passed, "label": verdict.label,
                    "decided_by": final.by.value, "integrity": list(final.integrity),
                    "evaluations": list(verdict.evaluations),
                },
            }
        )  # fmt: skip
    return _write(path, rows, array=path.suffix != ".jsonl")


def _why(store: Store, evaluations: Iterable[str]) -> str:
    said = [store.get(Evaluation, id) for id in evaluations]
    texts = [getattr(e.payload, "justification", "") or getattr(e.payload, "reason", "") for e in said]
    return "\n\n".join(t for t in texts if t)


def _write(path: Path, rows: Iterable[dict[str, Any]], *, array: bool = False) -> int:
    """Aside first, so that a full disk leaves the old file."""
    lines = [json.dumps(row, sort_keys=True) for row in rows]
    text = "[\n" + ",\n".join(lines) + "\n]\n" if array else "".join(line + "\n" for line in lines)
    draft = path.with_name(path.name + ".part")
    with keeping(str(path.parent)):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    return len(lines)
