"""Import of judgments made elsewhere, from CSV or JSON Lines, as a separate round."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from worksample import __version__
from worksample.errors import ImportFailed, RecordMissing
from worksample.files.json_duplicate_keys import DuplicateKeyError, unique_object
from worksample.files.tables.cell_values import InvalidCell
from worksample.files.tables.delimited import SAMPLE, TableFault, header_of, records, sniff
from worksample.files.tables.encodings import marked_encoding
from worksample.files.tables.number_columns import NumberColumns
from worksample.files.tables.table_reader import FaultyRow, read_json
from worksample.people.errors import FaultyRows, InvalidAnswer
from worksample.people.judging.answer_validation import read_answer
from worksample.people.rounds.item_plan import RoundForm, gradings_for
from worksample.people.rounds.judging_forms import PROTOCOL_OF, PURPOSE_OF, SPECS, Form, RoundKind
from worksample.records import (
    Criteria,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Instance,
    ResolutionRule,
    Round,
    Submission,
    digest_bytes,
    digest_of,
    now,
)

if TYPE_CHECKING:
    from worksample.store import Store

LARGEST = 100_000_000
"""Most bytes of a file."""
_OWN = ("subject", "second", "evaluator", "by", "minutes", "at")
_TABLES = {"marks", "feedback"}
_TIME = "write a time such as 2026-05-04T09:30:00Z"


def import_judgments(
    store: Store,
    data: bytes,
    form: Form,
    *,
    format: str,
    author: str,
    reason: str = "",
    rule: ResolutionRule | None = None,
) -> Round:
    """Commit a round with all judgments of a file, or nothing. `format`: `csv` or `jsonl`.

    A row has `subject` (submission id), for pairs `second` (`subject` was shown first), `evaluator` (a name), and the
    form's questions: score and justification; completion, quality and justification; tags; or marks and feedback as
    JSON. It may have `by` (the evaluator's kind: person, judge or program, the same in every row; default person),
    `minutes` and `at` (ISO 8601 with zone). Other columns are refused. If the same file was imported before, its round
    is returned. Raises ImportFailed; its subclass FaultyRows names every invalid row.
    """
    if form is Form.QUALIFICATION:
        raise ImportFailed(
            "the file holds qualifications of jobs, not judgments of work", next="worksample import upbench FOLDER"
        )
    if len(data) > LARGEST:
        raise ImportFailed(
            f"the file has {len(data)} bytes; at most {LARGEST} can be imported",
            next="split the file, and import its parts",
        )
    id = digest_of(["judgments", form.value, digest_bytes(data)])[:32]
    try:
        return store.get(Round, id)
    except RecordMissing:
        pass
    faults: dict[str, str] = {}
    evaluations: list[Evaluation] = []
    evaluators: dict[str, Evaluator] = {}
    seen: set[tuple[str, ...]] = set()
    rows = list(_rows(data, format))
    numbers = NumberColumns().with_rows({"minutes": False}, rows)
    for line, row in rows:
        try:
            if isinstance(row, FaultyRow):
                raise InvalidCell(row.what)
            if row.get("minutes") not in (None, ""):
                row["minutes"] = _minutes(numbers, row["minutes"])
            made = _evaluation(store, row, form, id, line, author, evaluators)
        except (ImportFailed, InvalidAnswer, RecordMissing) as e:
            faults[f"row {line}"] = f"{e.what}; {e.next}" if isinstance(e, ImportFailed) and e.next else e.what
            continue
        except InvalidCell as e:
            faults[f"row {line}"] = str(e)
            continue
        key = (made.evaluator, *sorted((made.subject, made.second or "")))
        if key in seen:
            faults[f"row {line}"] = "the evaluator judged this subject in an earlier row"
        seen.add(key)
        evaluations.append(made)
    if faults:
        raise FaultyRows(faults)
    if not evaluations:
        raise ImportFailed("the file has no row", next="correct the file and try again")
    kinds = {e.type for e in evaluators.values()}
    if len(kinds) > 1:
        told = ", ".join(sorted(kinds))
        raise ImportFailed(
            f"the file mixes judgments by {told}, but a round has one kind of evaluator",
            next="import a file for each kind",
        )
    round = _round(store, evaluations, form, id, author, reason, rule).replaced(by=kinds.pop())
    store.commit(round, *evaluators.values(), *evaluations)
    return round


def _round(
    store: Store,
    evaluations: Sequence[Evaluation],
    form: Form,
    id: str,
    author: str,
    reason: str,
    rule: ResolutionRule | None,
) -> Round:
    subjects = dict.fromkeys(s for e in evaluations for s in (e.subject, e.second) if s)
    votes: dict[tuple[str, str], int] = {}
    for e in evaluations:
        one, other = sorted((e.subject, e.second or ""))
        votes[one, other] = votes.get((one, other), 0) + 1
    overlap = max(votes.values())
    items = [{"instance": e.instance} for e in evaluations]
    return Round(
        id=id,
        protocol=PROTOCOL_OF[form],
        purpose=PURPOSE_OF[RoundKind(form.value)],
        subjects=tuple(subjects),
        overlap=overlap,
        rule=rule or (ResolutionRule.MAJORITY if form in (Form.HOLISTIC, Form.PAIRWISE) else ResolutionRule.LATEST),
        gradings=gradings_for(store, RoundForm(form, PROTOCOL_OF[form]), items),
        versions={"worksample": __version__, "people.form": form.value, "imported": "1"},
        reason=reason or "imported judgments",
        author=author,
        at=now(),
    )


def _rows(data: bytes, format: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line from 1, its content); a `FaultyRow` for an unreadable line. Raises ImportFailed for other formats."""
    try:
        text = data.decode(marked_encoding(data[:4096]) or "utf-8")
    except UnicodeError as e:
        raise ImportFailed("the file is not UTF-8", next="save it as UTF-8") from e
    if format == "csv":
        yield from _csv_rows(text)
    elif format == "jsonl":
        for n, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                row = read_json(line)
            except DuplicateKeyError as e:
                row = FaultyRow(f"{e}; {e.next}")
            except (ValueError, RecursionError) as e:
                row = FaultyRow(f"is not JSON: {e}; write one JSON object a line")
            yield n, row if isinstance(row, dict) else FaultyRow("is not an object; write one JSON object a line")
    else:
        raise ImportFailed(f"no such format: {format}", next="csv or jsonl")


def _csv_rows(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    if not text.strip():
        return
    try:
        found = records(io.StringIO(text, newline=""), sniff(text[:SAMPLE], whole=len(text) <= SAMPLE))
        header, below = header_of(found)
        for record in below:
            try:
                row = header.row(record)
            except TableFault as fault:
                yield record.line, FaultyRow(f"{fault.what}; {fault.next}")
                continue
            if None in row.values():
                yield record.line, FaultyRow("has fewer cells than the header")
                continue
            try:
                yield record.line, {k: _cell(k, v) for k, v in row.items() if v != ""}
            except DuplicateKeyError as e:
                yield record.line, FaultyRow(f"{e}; {e.next}")
    except TableFault as fault:
        raise ImportFailed(
            f"the file is not valid CSV: {fault.what}", next=fault.next or "save it as CSV and try again"
        ) from fault


def _cell(name: str, value: str) -> Any:
    if name in _TABLES:
        try:
            return json.loads(value, object_pairs_hook=unique_object)
        except DuplicateKeyError:
            raise
        except ValueError:
            return value
    if name == "tags":
        return [tag for tag in value.split(";") if tag.strip()]
    if name == "inspected":
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    return value


def _evaluation(
    store: Store, row: Mapping[str, Any], form: Form, round: str, line: int, author: str,
    evaluators: dict[str, Evaluator],
) -> Evaluation:  # fmt: skip
    unknown = sorted(set(row) - set(_OWN) - {ask.name for ask in SPECS[form].asks})
    if unknown:
        raise ImportFailed(f"unknown column {unknown[0]!r}", next="remove or rename the column")
    for name in ("subject", "evaluator", *(["second"] if form is Form.PAIRWISE else [])):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise ImportFailed(f"{name} is missing", next=f"write the {name}")
    if form is not Form.PAIRWISE and row.get("second"):
        raise ImportFailed("only judgments of pairs have a second submission", next="leave second empty")
    subject = store.get(Submission, row["subject"])
    second = store.get(Submission, row["second"]) if form is Form.PAIRWISE else None
    if second is not None and (second.instance != subject.instance or second.id == subject.id):
        raise ImportFailed(
            "the two submissions of a pair are the same submission, or are for different instances",
            next="name two submissions for the same instance",
        )
    instance = store.get(Instance, subject.instance)
    by = _kind(row)
    evaluator = _evaluator(row["evaluator"].strip(), by, evaluators)
    asked = {name: value for name, value in row.items() if name not in _OWN}
    payload, beside = read_answer(form, asked, _criteria(instance, form, by, row.get("marks")))
    return Evaluation(
        id=digest_of([round, line])[:32], round=round, subject=subject.id, second=second.id if second else None,
        instance=subject.instance, evaluator=evaluator.id, outcome=EvaluationOutcome.GIVEN,
        payload=payload, minutes=row.get("minutes"), author=author, at=_parse_time(row.get("at")),
        record={"line": line, **beside},
    )  # fmt: skip


def _criteria(instance: Instance, form: Form, by: EvaluatorKind, marks: Any) -> Criteria:
    """Return the criteria asked of this kind of evaluator; all criteria if the row marks all of them."""
    grading = instance.grading.get(PROTOCOL_OF[form])
    if form is not Form.RUBRIC or grading is None:
        return Criteria()
    every = {leaf.id for leaf in grading.criteria.leaves}
    whole = isinstance(marks, Mapping) and every <= set(marks)
    return grading.criteria if whole else grading.asked_of(by.value)


def _kind(row: Mapping[str, Any]) -> EvaluatorKind:
    by = row.get("by") or EvaluatorKind.PERSON.value
    if by not in {kind.value for kind in EvaluatorKind}:
        raise ImportFailed(
            f"column by: {by!r} is not a kind of evaluator", next=f"write one of {', '.join(EvaluatorKind)}"
        )
    return EvaluatorKind(by)


def _evaluator(name: str, by: EvaluatorKind, evaluators: dict[str, Evaluator]) -> Evaluator:
    id = f"{by}-imported-{digest_of(name)[:16]}@1"
    if id not in evaluators:
        evaluators[id] = Evaluator(id=id, name=name[:100], type=by, version="1", at=now())
    return evaluators[id]


def _minutes(numbers: NumberColumns, value: Any) -> float:
    try:
        return float(numbers.read("minutes", value))
    except InvalidCell as e:
        raise InvalidCell(f"minutes {str(value)[:40]!r}: {e}") from None


def _parse_time(value: Any) -> datetime:
    if value in (None, ""):
        return now()
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError as e:
        raise ImportFailed(f"column at: {value!r} is not a time in ISO 8601", next=_TIME) from e
    if found.tzinfo is None:
        raise ImportFailed(f"column at: {value!r} has no time zone", next=_TIME)
    return found.astimezone(UTC)
