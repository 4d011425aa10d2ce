"""Export of a round's evaluations: JSON Lines, CSV, Parquet, and scores for Inspect."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.files.tables.numbers import format_float
from worksample.people.quality.gold_items import answers_of
from worksample.people.round_verdicts import final_verdicts
from worksample.people.unstruck_evaluations import amendments_of, exclude_struck, standing_evaluations
from worksample.records import Evaluation, Evaluator, EvaluatorKind, GradePayload, Round, Standing, Submission, Tags
from worksample.store.error_translation import translate_os_errors

if TYPE_CHECKING:
    from worksample.store import Store


def export_jsonl(store: Store, round: str, path: Path) -> int:
    """Write one line per evaluation of a round. Return the number of lines.

    Keys: subject, second, evaluator (name), evaluator_id, outcome, the payload's own, reason, minutes, at, stands.
    Raises RecordMissing, StoreFull.
    """
    return _write(path, _lines(store, round))


def export_parquet(store: Store, round: str, path: Path) -> int:
    """Write the same as `export_jsonl`, with the payload as JSON. Raises RecordMissing, StoreFull."""
    import polars as pl

    rows = [{**row, "payload": json.dumps(row["payload"], sort_keys=True)} for row in _lines(store, round)]
    texts = ("evaluation", "subject", "second", "instance", "evaluator", "evaluator_id", "outcome", "payload", "reason")
    schema = dict.fromkeys(texts, pl.String) | {"minutes": pl.Float64, "at": pl.String, "stands": pl.Boolean}
    out = io.BytesIO()
    pl.DataFrame(rows, schema=schema).with_columns(pl.col("at").str.to_datetime(time_zone="UTC")).write_parquet(out)
    _put_cell(path, out.getvalue())
    return len(rows)


def export_csv(store: Store, round: str, path: Path) -> int:
    """Write unstruck evaluations in the columns that `import_judgments` reads. Return the number of rows.

    Raises RecordMissing, StoreFull.
    """
    record = store.get(Round, round)
    found = standing_evaluations(store, record.id)
    names = _names(store, found)
    rows = [
        {
            "subject": e.subject, "second": e.second or "", "evaluator": names.get(e.evaluator, e.evaluator),
            "by": record.by.value, "minutes": "" if e.minutes is None else format_float(e.minutes),
            "at": e.at.isoformat(),
            **_cells(e),
        }
        for e in found
    ]  # fmt: skip
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["subject", "evaluator"]
    plain = {"second": not any(row["second"] for row in rows), "by": record.by is EvaluatorKind.PERSON}
    columns = [name for name in columns if not plain.get(name, False)]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    _put_cell(path, out.getvalue().encode())
    return len(rows)


def _cells(e: Evaluation) -> dict[str, str]:
    """Return the form's answers as cells of an import row."""
    said = answers_of(e)
    why = getattr(e.payload, "justification", "")
    match e.payload:
        case GradePayload(parts=parts):
            feedback = {p.name: p.reason for p in parts if p.reason}
            return {"marks": json.dumps(said), "feedback": json.dumps(feedback)}
        case Tags(tags=tags, note=note):
            return {"tags": ";".join(tags), "note": note}
        case _:
            beside: dict[str, str] = {n: str(e.record[n]) for n in ("critical_flaw", "recognised") if n in e.record}
            if "inspected" in e.record:
                beside["inspected"] = str(bool(e.record["inspected"])).lower()
            why = why or getattr(e.payload, "note", "")
            return {**{name: str(value) for name, value in said.items()}, "justification": why, **beside}


def _lines(store: Store, round: str) -> list[dict[str, Any]]:
    record = store.get(Round, round)
    found = store.find(Evaluation, round=record.id)
    stands = {e.id for e in exclude_struck(found, amendments_of(store))}
    names = _names(store, found)
    return [_line(e, names.get(e.evaluator, e.evaluator), e.id in stands) for e in found]


def _names(store: Store, found: list[Evaluation]) -> dict[str, str]:
    versions = sorted({e.evaluator for e in found})
    return {e.id: e.name for e in store.find(Evaluator, id=versions)} if versions else {}


def _line(e: Evaluation, name: str, stands: bool) -> dict[str, Any]:
    return {
        "evaluation": e.id, "subject": e.subject, "second": e.second, "instance": e.instance, "evaluator": name,
        "evaluator_id": e.evaluator, "outcome": e.outcome.value, "payload": e.payload.plain() if e.payload else None,
        "reason": e.reason, "minutes": e.minutes, "at": e.at.isoformat(), "stands": stands,
    }  # fmt: skip


def export_precomputed(store: Store, round: str, path: Path) -> int:
    """Write a file for Inspect's `precomputed_scores`: one record per decided subject from a trial. Return their
    number.

    `id` is the sample's id in the `.eval` log, which is the trial's; `value` is the verdict's score after audit and
    adjudication. Undecided and ungraded subjects have no record, so Inspect leaves them unscored and never counts 0.
    `path` ends in `.jsonl` for JSON Lines, else the file is one JSON array. Raises RecordMissing, StoreFull.
    """
    finals = final_verdicts(store, round)
    rows = []
    for subject, final in sorted(finals.items()):
        verdict = final.verdict
        trial = store.get(Submission, subject).trial
        if verdict.standing is not Standing.DECIDED or trial is None:
            continue
        rows.append(
            {
                "id": trial, "value": verdict.score, "explanation": _join_reasons(store, verdict.evaluations),
                "metadata": {
                    "submission": subject, "round": round, "passed": verdict.passed, "label": verdict.label,
                    "decided_by": final.by.value, "integrity": list(final.integrity),
                    "evaluations": list(verdict.evaluations),
                },
            }
        )  # fmt: skip
    return _write(path, rows, array=path.suffix != ".jsonl")


def _join_reasons(store: Store, evaluations: Iterable[str]) -> str:
    said = [store.get(Evaluation, id) for id in evaluations]
    texts = [getattr(e.payload, "justification", "") or getattr(e.payload, "reason", "") for e in said]
    return "\n\n".join(t for t in texts if t)


def _write(path: Path, rows: Iterable[dict[str, Any]], *, array: bool = False) -> int:
    """Write to a temporary file first, so that a full disk leaves the old file."""
    lines = [json.dumps(row, sort_keys=True) for row in rows]
    text = "[\n" + ",\n".join(lines) + "\n]\n" if array else "".join(line + "\n" for line in lines)
    _put_cell(path, text.encode())
    return len(lines)


def _put_cell(path: Path, data: bytes) -> None:
    draft = path.with_name(path.name + ".part")
    with translate_os_errors(str(path.parent)):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
