"""Nested values (ALE C.3.2): numbers and texts in JSON, place by place, with required keys and tolerances."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from worksample.errors import Cause, DeliverableError, GraderError
from worksample.kit.check_score import Check
from worksample.kit.numbers import close, plain_text
from worksample.kit.text import read_json

from .bands import compare_artifacts

VALUE_LIMIT = 500_000
"""Maximum number of values in a compared file."""
SHOWN = 5
Tolerance = float | Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ValueRules:
    """Rules for comparing values. A tolerance is one number, or place -> number, such as `{"*.price": 0.01}`; the first
    pattern that matches counts, and places without a match must be equal.
    """

    tolerance: Tolerance = 0.0
    relative: Tolerance = 0.0
    required: Sequence[str] = ()
    ignored: Sequence[str] = ()
    extra: bool = True


def values(
    got: Path, want: Path, *, tolerance: Tolerance = 0.0, relative: Tolerance = 0.0, required: Sequence[str] = (),
    ignored: Sequence[str] = (), extra: bool = True, trivial: Sequence[Path] = (),
) -> Check:  # fmt: skip
    """Return the share of the values in a JSON file that are right. A place is written `totals.net` or `rows[2].id`.

    tolerance, relative: allowed differences of numbers (see `ValueRules`). required: patterns of places; if the
    reference has such a place and the deliverable lacks it, the deliverable scores 0. ignored: patterns of places that
    are not compared. extra: whether values that the reference lacks count as wrong. trivial: files that must score 0.
    The same structure with every number 0 scores 0, too. Texts are compared without regard to case and spaces; `"1"`
    is not 1, and NaN is malformed.

    Raises DeliverableError if the deliverable is not JSON or lacks a required place; ReferenceUnreadable if the
    reference is not JSON or a trivial file is as good as it.
    """
    rules = ValueRules(tolerance, relative, tuple(required), tuple(ignored), extra)
    _check_tolerances(rules)
    return compare_artifacts(
        got,
        want,
        read_json,
        lambda a, b: compare_values(a, b, rules),
        trivial=trivial,
        fillers=lambda b: [_zero_out(b)],
    )


def compare_values(got: Any, want: Any, rules: ValueRules | None = None) -> Check:
    """Return the share of the values of `want` that `got` has at the same place. Raises DeliverableError if a required
    place is missing.
    """
    rules = rules or ValueRules()
    mine, theirs = dict(leaves(got)), dict(leaves(want))
    theirs = {at: value for at, value in theirs.items() if not _matches(at, rules.ignored)}
    mine = {at: value for at, value in mine.items() if not _matches(at, rules.ignored)}
    lost = [at for at in theirs if at not in mine]
    for at in lost:
        if _matches(at, rules.required):
            raise DeliverableError(f"has no value at {at}, which is required", where="the deliverable")
    wrong = [at for at, value in theirs.items() if at in mine and not _same(mine[at], value, at, rules)]
    surplus = [at for at in mine if at not in theirs] if rules.extra else []
    total = len(theirs) + len(surplus)
    faults = [f"{at}: missing" for at in lost]
    faults += [f"{at}: {_show(mine[at])} instead of {_show(theirs[at])}" for at in wrong]
    faults += [f"{at}: not expected" for at in surplus]
    right = len(theirs) - len(lost) - len(wrong)
    more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
    return Check(right / total if total else 0.0, "; ".join(faults[:SHOWN]) + more)


def leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for each text, number, truth value, null, and empty list or object in a JSON value.

    Raises DeliverableError after `VALUE_LIMIT` values.
    """
    stack: list[tuple[str, Any]] = [("", value)]
    count = 0
    while stack:
        at, one = stack.pop()
        count += 1
        if count > VALUE_LIMIT:
            raise DeliverableError(f"has more than {VALUE_LIMIT:,} values", where="the deliverable")
        if isinstance(one, Mapping) and one:
            stack += [(f"{at}.{key}" if at else str(key), inner) for key, inner in one.items()]
        elif isinstance(one, list) and one:
            stack += [(f"{at}[{i}]", inner) for i, inner in enumerate(one)]
        else:
            yield at, one


def _same(got: Any, want: Any, at: str, rules: ValueRules) -> bool:
    if isinstance(got, bool) or isinstance(want, bool):
        return got is want
    if isinstance(want, (int, float)):
        if not isinstance(got, (int, float)):
            return False
        return close(got, want, _tolerance_at(at, rules.tolerance), _tolerance_at(at, rules.relative))
    if isinstance(want, str):
        return isinstance(got, str) and plain_text(got) == plain_text(want)
    return bool(got == want)


def _tolerance_at(at: str, tolerance: Tolerance) -> float:
    if isinstance(tolerance, Mapping):
        return next((float(limit) for pattern, limit in tolerance.items() if _matches(at, (pattern,))), 0.0)
    return float(tolerance)


def _matches(at: str, patterns: Sequence[str]) -> bool:
    """Return whether a place matches a pattern. `*` matches anything; brackets stand for themselves."""
    return any(fnmatchcase(at, pattern.replace("[", "[[]")) for pattern in patterns)


def _check_tolerances(rules: ValueRules) -> None:
    for limits in (rules.tolerance, rules.relative):
        found = limits.values() if isinstance(limits, Mapping) else (limits,)
        if any(not 0 <= limit < math.inf for limit in found):
            raise GraderError(
                "a tolerance is negative or not a number", cause=Cause.GRADER_CRASH, next="pass 0 or more"
            )


def _zero_out(value: Any) -> Any:
    """Return the value with every number 0 and every text empty: a filler of the right shape."""
    if isinstance(value, Mapping):
        return {key: _zero_out(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_zero_out(inner) for inner in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 0
    return "" if isinstance(value, str) else value


def _show(value: Any) -> str:
    return repr(value)[:60]
