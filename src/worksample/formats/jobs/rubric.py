"""Reader of a rubric in a cell: lines of `importance - text` (UpBench A.3), JSON, or GDPval's items with points."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from worksample.files.tables.cell_values import InvalidCell, text
from worksample.records import By, Criteria, Criterion, Importance
from worksample.records.rubric_text import LARGEST, read_line

_WEIGHT = ("importance", "label", "type", "level")
_TEXT = ("text", "criterion", "criteria", "description", "name")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")
_POINTS = ("points", "score", "weight")


def read_rubric(cell: Any) -> Criteria:
    """Return the criteria of a cell. Raises InvalidCell.

    People decide a criterion, unless its item says otherwise. An item with points below 0, a penalty in GDPval, becomes
    a pitfall.
    """
    if isinstance(cell, dict):
        cell = next((cell[k] for k in ("criteria", "rubric", "items") if k in cell), [cell])
    items = cell if isinstance(cell, list) else [line for line in text(cell).splitlines() if line.strip()]
    if len(items) > LARGEST:
        raise InvalidCell(f"has {len(items)} criteria; at most {LARGEST} are read")
    criteria = [_criterion(n, item) for n, item in enumerate(items, 1)]
    try:
        return Criteria(criteria=tuple(criteria))
    except ValidationError as e:
        raise InvalidCell(str(e.errors()[0]["msg"]).removeprefix("Value error, ")) from None


def _criterion(n: int, item: Any) -> Criterion:
    weight: dict[str, Any]
    if not isinstance(item, dict):
        try:
            return read_line(n, text(item))
        except ValueError as e:
            raise InvalidCell(str(e)) from None
    value = _first_value(item, _TEXT)
    # The criterion's text is kept unchanged, with its spaces.
    words = value if isinstance(value, str) and text(value) else text(value)
    label, points = text(_first_value(item, _WEIGHT)).lower(), _first_value(item, _POINTS)
    if label in set(Importance):
        weight = {"importance": Importance(label)}
    elif isinstance(points, int | float) and not isinstance(points, bool) and points:
        weight = {"points": float(points)} if points > 0 else {"importance": Importance.PITFALL}
    else:
        raise InvalidCell(f"criterion {n} has neither an importance ({', '.join(Importance)}) nor points")
    if not words:
        raise InvalidCell(f"criterion {n} has no text")
    try:
        return Criterion(text=words, **_id_and_flags(n, item), **weight)
    except ValidationError as e:
        raise InvalidCell(f"criterion {n}: {e.errors()[0]['msg']}") from None


def _id_and_flags(n: int, item: dict[str, Any]) -> dict[str, Any]:
    """Return the item's id (default: its number), its kind of evaluator (default: people), and its flags."""
    id, by = item.get("id"), item.get("by")
    if by is not None and by not in set(By):
        raise InvalidCell(f"criterion {n}: by is {by!r}, not one of {', '.join(By)}")
    own = id if isinstance(id, str) and _ID.fullmatch(id) else f"c{n}"
    flags = {name: item.get(name) is True for name in ("gate", "implies_others")}
    return {"id": own, "by": By(by or By.PERSON), **flags}


def _first_value(item: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((item[k] for k in names if item.get(k) is not None), None)
