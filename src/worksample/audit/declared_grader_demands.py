"""Demands of a grader whose source is outside the package, as the package declares them in `settings.asks`.

A table of `files` and `columns` (names), `patterns` (regular expressions that a whole line must match) and `points`
(one number per criterion, in order).
"""

from __future__ import annotations

from collections.abc import Sequence

from worksample.records import Grading


def declared_texts(grading: Grading, kind: str) -> tuple[str, ...]:
    """Return the declared texts of one kind."""
    return tuple(item for item in _list(grading, kind) if isinstance(item, str))


def declared_points(grading: Grading) -> tuple[float, ...]:
    """Return the declared points; empty if there are none."""
    return tuple(float(p) for p in _list(grading, "points") if isinstance(p, int | float))


def _list(grading: Grading, kind: str) -> Sequence[object]:
    asks = {**grading.settings, **grading.instance_settings}.get("asks")
    found = asks.get(kind) if isinstance(asks, dict) else None
    return found if isinstance(found, list | tuple) else ()
