"""What a grader whose source lies outside the package asks for, as the package declares it: `settings.asks`.

A table of `files` and `columns` (names), `patterns` (regular expressions that a whole line must match) and `points`
(one number per criterion, in order).
"""

from __future__ import annotations

from collections.abc import Sequence

from worksample.records import Grading


def declared_texts(grading: Grading, kind: str) -> tuple[str, ...]:
    """Texts of that kind."""
    return tuple(item for item in _list(grading, kind) if isinstance(item, str))


def declared_points(grading: Grading) -> tuple[float, ...]:
    """The points, or none."""
    return tuple(float(p) for p in _list(grading, "points") if isinstance(p, int | float))


def _list(grading: Grading, kind: str) -> Sequence[object]:
    asks = {**grading.settings, **grading.instance_settings}.get("asks")
    found = asks.get(kind) if isinstance(asks, dict) else None
    return found if isinstance(found, list | tuple) else ()
