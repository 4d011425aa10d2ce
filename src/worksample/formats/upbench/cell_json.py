"""JSON in cells of UpBench's tables: criteria, answers and feedback, converted from records and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from worksample.files.tables.cell_values import InvalidCell
from worksample.records import (
    By,
    Criteria,
    Criterion,
    GradePayload,
    Holistic,
    Importance,
    Labels,
    PartPayload,
    SkipReason,
)
from worksample.records.weighted_criteria import weigh
from worksample.results.job_suitability import CORE_NAMES

PASS, FAIL, SKIP = "pass", "fail", "skip"
"""UpBench's marks (A.4)."""
NOT_APPLICABLE = SkipReason.NOT_APPLICABLE.value
_ANSWERS = {"yes": PASS, "no": FAIL, "not_applicable": SKIP}
_ANSWERS_READ = {told: own for own, told in _ANSWERS.items()} | {"true": "yes", "false": "no", "yes": "yes", "no": "no"}
_MARKS = {
    "pass": PASS, "passed": PASS, "true": PASS, "yes": PASS, "fail": FAIL, "failed": FAIL, "false": FAIL, "no": FAIL,
    "skip": SKIP, "skipped": SKIP, "cannot_judge": SKIP, NOT_APPLICABLE: NOT_APPLICABLE,
}  # fmt: skip
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")
_CRITERION_KEYS = ("criterion", "text", "criteria_text", "acceptance_criterion")
_MARK_KEYS = ("judgment", "judgement", "mark", "result")
_REASON_KEYS = ("feedback", "reasoning", "reason", "justification")
_ITEM_KEYS = {"id", "importance", "label", "points", "fraction", "gate", *_CRITERION_KEYS, *_MARK_KEYS, *_REASON_KEYS}
_FIRST_OWN_QUESTION = 4
"""The number of the first question of a qualification after UpBench's three."""


# -- rubrics


def criteria_cell(criteria: Criteria) -> list[dict[str, Any]] | None:
    """Return a dict for each criterion; None if there are no criteria."""
    return [_leaf_cell(n, leaf) for n, leaf in enumerate(criteria.leaves, 1)] or None


def _leaf_cell(n: int, leaf: Criterion) -> dict[str, Any]:
    out: dict[str, Any] = {"criterion": leaf.text}
    if leaf.importance is not None:
        out["importance"] = leaf.importance.value
    else:
        out["points"] = leaf.worth
    if leaf.id != f"c{n}":
        out["id"] = leaf.id
    if leaf.by is By.JUDGE:
        # A program is not exported. Elsewhere, people decide its criteria.
        out["by"] = leaf.by.value
    out |= {"gate": True} if leaf.gate else {}
    return out | ({"implies_others": True} if leaf.implies_others else {})


# -- qualifications


def label_columns(labels: Labels) -> dict[str, Any]:
    """Return the columns of a qualification that hold its answers."""
    out: dict[str, Any] = {"acceptance_criteria": criteria_cell(labels.criteria)}
    for n, name in enumerate(CORE_NAMES, 1):
        answer = labels.labels.get(name)
        out[f"criterion_{n}_judgment"] = _ANSWERS.get(answer, answer) if answer else None
        out[f"criterion_{n}_reasoning"] = labels.reasons.get(name) or None
    own = sorted({*labels.labels, *labels.reasons} - set(CORE_NAMES))
    taken = {name: _own_question_cell(name, labels, name) for name in own if re.fullmatch(r"criterion_[1-9]\d*", name)}
    n = _FIRST_OWN_QUESTION
    for name in own:
        if name in taken:
            continue
        while f"criterion_{n}" in taken:
            n += 1
        taken[f"criterion_{n}"] = _own_question_cell(name, labels, f"criterion_{n}")
    return out | taken


def _own_question_cell(name: str, labels: Labels, column: str) -> Any:
    answer, why = labels.labels.get(name) or None, labels.reasons.get(name) or None
    if name == column and why is None:
        return answer
    rest = {"judgment": answer, "reasoning": why}
    return ({} if name == column else {"question": name}) | {k: v for k, v in rest.items() if v is not None}


def read_labels(row: Mapping[str, Any], criteria: Criteria) -> Labels | None:
    """Return the answers in a row of `qualifications`; None if it has none. Raises InvalidCell."""
    labels: dict[str, str] = {}
    reasons: dict[str, str] = {}

    def take(name: str, answer: Any, why: Any) -> None:
        for value in (answer, why):
            if value is not None and not isinstance(value, str | bool | int | float):
                raise InvalidCell(f"{name}: must be a text, or an object with judgment and reasoning")
        if answer is not None and answer != "":
            text = str(answer).lower() if isinstance(answer, bool) else str(answer)
            labels[name] = _ANSWERS_READ.get(text.strip().lower(), text) if name in CORE_NAMES else text
        if why is not None and why != "":
            reasons[name] = str(why)

    for n, name in enumerate(CORE_NAMES, 1):
        take(name, row.get(f"criterion_{n}_judgment"), row.get(f"criterion_{n}_reasoning"))
    for column in sorted(c for c in row if re.fullmatch(r"criterion_[1-9]\d*", c)):
        cell = row[column]
        if isinstance(cell, dict):
            if left := set(cell) - {"question", "judgment", "reasoning"}:
                raise InvalidCell(f"{column}: unknown key {sorted(left)[0]!r}")
            take(str(cell.get("question") or column), cell.get("judgment"), cell.get("reasoning"))
        else:
            take(column, cell, None)
    if not labels and not reasons and not criteria.criteria:
        return None
    return Labels(labels=labels, reasons=reasons, criteria=criteria)


# -- feedback


def feedback_cell(payload: GradePayload | Holistic, criteria: Criteria) -> Any:
    """Return the feedback of an evaluation: a dict for each criterion, or one dict for a judgment of the whole."""
    if isinstance(payload, Holistic):
        out: dict[str, Any] = {"holistic": payload.score, "feedback": payload.justification}
        return out if payload.inspected else out | {"inspected": False}
    if not payload.parts:
        return {"score": payload.score, "feedback": payload.reason}
    texts = _texts(criteria)
    return [_part_cell(part, texts) for part in payload.leaves]


def _texts(criteria: Criteria) -> dict[str, str]:
    """Return criterion -> text, for the texts that only one criterion has."""
    every = [leaf.text for leaf in criteria.leaves]
    return {leaf.id: leaf.text for leaf in criteria.leaves if every.count(leaf.text) == 1}


def _part_cell(part: PartPayload, texts: Mapping[str, str]) -> dict[str, Any]:
    text = texts.get(part.name)
    # A name that is not an id is the text of a criterion that the rubric lacks.
    own = {"criterion": part.name if text is None else text} if text or not _ID.fullmatch(part.name) else {}
    out: dict[str, Any] = own or {"id": part.name}
    if part.importance is not None:
        out["importance"] = part.importance.value
    else:
        out["points"] = part.points
    skip = (
        {SkipReason.CANNOT_JUDGE: SKIP, SkipReason.NOT_APPLICABLE: NOT_APPLICABLE}.get(part.skip) if part.skip else None
    )
    out["judgment"] = skip or (PASS if part.passed else FAIL)
    if part.fraction is not None and part.fraction not in (0.0, 1.0):
        out["fraction"] = part.fraction
    out |= {"gate": True} if part.gate else {}
    return out | ({"feedback": part.reason} if part.reason else {})


def read_feedback(cell: Any, criteria: Criteria) -> GradePayload | Holistic:
    """Return the payload of an evaluation. criteria: the rubric that it answers. Raises InvalidCell."""
    if isinstance(cell, dict) and "holistic" in cell:
        score = cell["holistic"]
        if score not in (1, 2, 3) or isinstance(score, bool):
            raise InvalidCell("submission_feedback: holistic must be 1, 2 or 3")
        why, inspected = str(cell.get("feedback") or ""), cell.get("inspected") is not False
        return Holistic.model_validate({"score": int(score), "justification": why, "inspected": inspected})
    if isinstance(cell, dict) and isinstance(cell.get("score"), int | float) and not isinstance(cell["score"], bool):
        if not 0 <= cell["score"] <= 1:
            raise InvalidCell("submission_feedback: a score must be 0 to 1")
        return GradePayload(score=float(cell["score"]), reason=_limited_text(cell.get("feedback")))
    items = cell.get("criteria") if isinstance(cell, dict) and isinstance(cell.get("criteria"), list) else cell
    if not isinstance(items, list) or not items:
        raise InvalidCell("submission_feedback: is not a list of criteria with their judgments")
    parts = tuple(_read_part(n, item, criteria) for n, item in enumerate(items, 1))
    return GradePayload(score=_score(parts, criteria), parts=parts, composition="rubric")


def _read_part(n: int, item: Any, criteria: Criteria) -> PartPayload:
    if not isinstance(item, dict):
        raise InvalidCell(f"submission_feedback: item {n} is not an object")
    if left := set(item) - _ITEM_KEYS:
        raise InvalidCell(f"submission_feedback: item {n}: unknown key {sorted(map(str, left))[0]!r}")
    mark = _MARKS.get(str(_first_value(item, _MARK_KEYS)).strip().lower())
    if mark is None:
        raise InvalidCell(f"submission_feedback: item {n} has no judgment: {PASS}, {FAIL}, {SKIP} or {NOT_APPLICABLE}")
    leaf = _criterion_of(item, criteria)
    name = leaf.id if leaf else str(item.get("id") or _first_value(item, _CRITERION_KEYS) or f"c{n}")
    label = str(_first_value(item, ("importance", "label")) or "").lower()
    importance = Importance(label) if label in set(Importance) else leaf.importance if leaf else None
    points = item.get("points")
    if not (isinstance(points, int | float) and not isinstance(points, bool) and 0 < points < float("inf")):
        points = leaf.worth if leaf else 1.0
    fraction = item.get("fraction", float(mark == PASS))
    if not isinstance(fraction, int | float) or isinstance(fraction, bool) or not 0 <= fraction <= 1:
        raise InvalidCell(f"submission_feedback: item {n}: a fraction must be 0 to 1")
    skip = {SKIP: SkipReason.CANNOT_JUDGE, NOT_APPLICABLE: SkipReason.NOT_APPLICABLE}.get(mark)
    return PartPayload(
        name=name, importance=importance, points=float(points), fraction=None if skip else float(fraction), skip=skip,
        gate=item.get("gate") is True, reason=_limited_text(_first_value(item, _REASON_KEYS)),
    )  # fmt: skip


def _criterion_of(item: Mapping[str, Any], criteria: Criteria) -> Criterion | None:
    """Return the criterion that an item refers to by id, else by text; None if the rubric has no such criterion."""
    id, words = item.get("id"), _first_value(item, _CRITERION_KEYS)
    if id is not None:
        return next((leaf for leaf in criteria.leaves if leaf.id == id), None)
    known = _texts(criteria)
    return next((leaf for leaf in criteria.leaves if known.get(leaf.id) == words), None)


def _score(parts: tuple[PartPayload, ...], criteria: Criteria) -> float:
    """Return the score that the rubric gives to a person's marks.

    If marks for some of its criteria are missing, return the share of points earned.
    """
    shares = {p.name: p.fraction for p in parts}
    if criteria.criteria and {leaf.id for leaf in criteria.leaves} <= set(shares):
        return weigh(criteria.criteria, shares) or 0.0
    counted = [p for p in parts if p.fraction is not None]
    worth = sum(p.points for p in counted)
    return min(1.0, sum(p.points * (p.fraction or 0.0) for p in counted) / worth) if worth else 0.0


def _first_value(item: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((item[k] for k in names if item.get(k) is not None), None)


def _limited_text(value: Any) -> str:
    text = "" if value is None else str(value)
    if len(text) > 20_000:
        raise InvalidCell("submission_feedback: a text has more than 20,000 characters")
    return text
