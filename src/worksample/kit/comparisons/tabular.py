"""Tables and numeric values (ALE C.3.2): tables compared cell by cell, within tolerances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.errors import Cause, DeliverableError, ReferenceUnreadable
from worksample.kit.check_score import Check
from worksample.kit.comparisons.ambiguous_numbers import settle_numbers
from worksample.kit.numbers import close, key_text, number, plain_text, whole
from worksample.kit.source import deliverable, reference
from worksample.kit.table import Row, Table, read_csv

LEAST_ROWS, TIMES_ROWS = 10_000, 20
"""Limits of a deliverable's number of rows. A table scores 0 if it has more than `LEAST_ROWS` rows and more than
`TIMES_ROWS` times the rows of the reference.
"""
SHOWN = 5
"""Maximum number of differences that a reason names."""

GROUP_LIMIT = 300
"""Maximum number of rows with equal keys on one side for which the best pairing is computed. Rows of larger groups are
paired in file order.
"""

Data = Path | Table | Sequence[Mapping[str, Any]]
Tolerance = float | Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a table comparison: keys, compared columns and tolerances. Columns have the names of the
    reference.
    """

    keys: tuple[str, ...]
    values: tuple[str, ...]
    absolute: Mapping[str, float]
    relative: Mapping[str, float]

    def same(self, column: str, got: Any, want: Any) -> bool:
        """Return whether a cell of the deliverable is right. Two numbers are compared within the tolerances; other
        cells are compared as text.
        """
        if (one := whole(got)) is not None and (other := whole(want)) is not None:
            return close(one, other, self.absolute[column], self.relative[column])
        left, right = number(got), number(want)
        if left is not None and right is not None:
            return self.near(column, left, right)
        return plain_text(got) == plain_text(want)

    def near(self, column: str, got: float, want: float) -> bool:
        """Return whether two numbers of a column are equal within the tolerances of this column."""
        return close(got, want, self.absolute[column], self.relative[column])

    def right(self, got: Row, want: Row) -> int:
        """Count the right cells in a row of the deliverable."""
        return sum(c in got and self.same(c, got[c], want.get(c)) for c in self.values)


def tabular(
    got: Data, want: Data, *, keys: Iterable[str] = (), columns: Iterable[str] | None = None,
    tolerance: Tolerance = 0.0, relative: Tolerance = 0.0, aliases: Mapping[str, Iterable[str]] | None = None,
    partial: bool = True, extra: bool = True,
) -> Check:  # fmt: skip
    """Compare two tables and return the share of right cells.

    got, want: the deliverable and the reference, as paths (`.csv`, `.tsv`, `.xlsx`), tables or lists of rows. keys:
    columns that identify a row. With keys, the order of rows does not matter, and rows with equal keys are paired so
    that the most cells are right. Without keys, rows are compared in order. columns: the columns to compare; by default
    all columns of the reference except the keys.

    Names of columns are compared without regard to case, spaces and punctuation. aliases: other accepted names, as
    column of the reference -> names. tolerance, relative: allowed deviation of a number, absolute and as a share of the
    reference's number, for all columns or by column. The larger of the two applies. A missing row or column has no
    right cells. extra: whether additional rows count as wrong. partial: if false, return 1 for a table without any
    fault, otherwise 0.

    An ambiguous number such as `1.200` is read as the other cells of its column suggest. If these cells do not decide,
    the reading that makes more cells of the column right is used. The reason names this reading and the first
    differences.

    Raises DeliverableError if `got` cannot be read or lacks a key column. Raises ReferenceUnreadable if `want` cannot
    be read, if a tolerance is invalid, or if the reference lacks a key or column: then no submission can be graded.
    """
    wanted = _reference(want)
    rules = _rules(wanted, tuple(keys), columns, tolerance, relative)
    found, missing = _rename_columns(_require_plausible_size(_deliverable(got), wanted), rules, aliases or {})
    found, wanted, notes = settle_numbers(found, wanted, rules)
    compare = _by_key if rules.keys else _in_order
    pairs, lost, surplus = compare(found.rows, wanted.rows, rules)
    width = max(1, len(rules.values))
    right = sum(rules.right(g, w) if rules.values else 1 for g, w in pairs)
    total = width * (len(wanted) + (len(surplus) if extra else 0))
    faults = [f"no column {c}" for c in missing]
    faults += [f"{_name(w, rules, i)}: missing" for i, w in lost]
    faults += _differences(pairs, rules, missing)
    faults += [f"{_name(g, rules, i)}: not expected" for i, g in surplus] if extra else []
    share = 1.0 if not total else right / total
    if not partial:
        share = 1.0 if not faults else 0.0
    if faults:
        share = min(share, 1 - 1e-6)
    return Check(share, "; ".join(filter(None, [_reason(faults, right, total), *notes])))


def _reason(faults: list[str], right: int, total: int) -> str:
    if not faults:
        return ""
    more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
    return f"{right} of {total} cells right: " + "; ".join(faults[:SHOWN]) + more


def _load(data: Data) -> Table:
    if isinstance(data, Table):
        return data
    if not isinstance(data, Path):
        return Table.of(data)
    if data.suffix.lower() in (".xlsx", ".xlsm"):
        from worksample.kit.workbook import read_sheet

        return read_sheet(data)
    return read_csv(data, "\t" if data.suffix.lower() == ".tsv" else None)


def _deliverable(data: Data) -> Table:
    with deliverable(data.name if isinstance(data, Path) else "the table"):
        return _load(data)


def _require_plausible_size(got: Table, want: Table) -> Table:
    """Return `got` unchanged. Raises DeliverableError if `got` has far more rows than `want`: comparing a huge table
    would use up the grader's time.
    """
    most = max(LEAST_ROWS, TIMES_ROWS * len(want))
    if len(got) > most:
        raise DeliverableError(f"has {len(got):,} rows, but {len(want):,} are expected", where="the table")
    return got


def _reference(data: Data) -> Table:
    with reference(data.name if isinstance(data, Path) else "the reference table"):
        return _load(data)


def _rules(
    want: Table, keys: tuple[str, ...], columns: Iterable[str] | None, tolerance: Tolerance, relative: Tolerance
) -> Rules:
    values = tuple(columns) if columns is not None else tuple(c for c in want.columns if c not in keys)
    named = [*keys, *values]
    for limits in (tolerance, relative):
        named += limits if isinstance(limits, Mapping) else []
    for name in named:
        if name not in want.columns:
            raise ReferenceUnreadable(f"the reference has no column {name!r}", next=f"one of {', '.join(want.columns)}")

    def spread(limits: Tolerance) -> dict[str, float]:
        if isinstance(limits, Mapping):
            return {c: float(limits.get(c, 0.0)) for c in values}
        return {c: float(limits) for c in values}

    rules = Rules(keys, values, spread(tolerance), spread(relative))
    if any(not 0 <= t < float("inf") for t in (*rules.absolute.values(), *rules.relative.values())):
        raise ReferenceUnreadable(
            "a tolerance is negative or not a number", cause=Cause.GRADER_CRASH, next="pass 0 or more"
        )
    return rules


def _plain_name(name: str) -> str:
    return "".join(ch for ch in name.casefold() if ch.isalnum()) or name


def _rename_columns(got: Table, rules: Rules, aliases: Mapping[str, Iterable[str]]) -> tuple[Table, list[str]]:
    """Return `got` with the column names of the reference, and the list of compared columns that `got` lacks. Raises
    DeliverableError if `got` lacks a key column.
    """
    by_name: dict[str, str] = {}
    for column in got.columns:
        by_name.setdefault(_plain_name(column), column)
    source: dict[str, str] = {}
    for column in (*rules.keys, *rules.values):
        names = (column, *aliases.get(column, ()))
        exact = next((n for n in names if n in got.columns), None)
        loose = next((by_name[_plain_name(n)] for n in names if _plain_name(n) in by_name), None)
        if exact is not None or loose is not None:
            source[column] = exact if exact is not None else str(loose)
    lacking = [k for k in rules.keys if k not in source]
    if lacking:
        raise DeliverableError(f"has no column {lacking[0]!r}; it has {', '.join(got.columns)}", where="the table")
    rows = tuple({c: row.get(s) for c, s in source.items()} for row in got.rows)
    return Table(tuple(source), rows), [c for c in rules.values if c not in source]


Pairs = list[tuple[Row, Row]]
Numbered = list[tuple[int, Row]]


def _in_order(got: Sequence[Row], want: Sequence[Row], rules: Rules) -> tuple[Pairs, Numbered, Numbered]:
    both = min(len(got), len(want))
    lost = [(i, want[i]) for i in range(both, len(want))]
    return list(zip(got, want, strict=False)), lost, [(i, got[i]) for i in range(both, len(got))]


def _by_key(got: Sequence[Row], want: Sequence[Row], rules: Rules) -> tuple[Pairs, Numbered, Numbered]:
    groups: dict[tuple[str, ...], tuple[Numbered, Numbered]] = {}
    for side, rows in enumerate((want, got)):
        for i, row in enumerate(rows):
            key = tuple(key_text(row.get(k)) for k in rules.keys)
            groups.setdefault(key, ([], []))[side].append((i, row))
    pairs: Pairs = []
    lost: Numbered = []
    surplus: Numbered = []
    for wanted, found in groups.values():
        if len(wanted) == len(found) == 1:
            pairs.append((found[0][1], wanted[0][1]))
            continue
        chosen = best_pairs([[rules.right(g, w) for _, g in found] for _, w in wanted])
        pairs += [(found[g][1], wanted[w][1]) for w, g in chosen]
        taken_want, taken_got = {w for w, _ in chosen}, {g for _, g in chosen}
        lost += [x for n, x in enumerate(wanted) if n not in taken_want]
        surplus += [x for n, x in enumerate(found) if n not in taken_got]
    return pairs, lost, surplus


def _name(row: Row, rules: Rules, position: int) -> str:
    if rules.keys:
        return "row " + ", ".join(f"{k}={str(row.get(k))[:40]}" for k in rules.keys)
    return f"row {position + 1}"


def _differences(pairs: Pairs, rules: Rules, missing: list[str]) -> list[str]:
    found = []
    for i, (got, want) in enumerate(pairs):
        wrong = [c for c in rules.values if c not in missing and not rules.same(c, got.get(c), want.get(c))]
        found += [f"{_name(want, rules, i)}: {c} {_show(got.get(c))} instead of {_show(want.get(c))}" for c in wrong]
    return found


def _show(value: Any) -> str:
    return "nothing" if value is None or value == "" else str(value)[:60]


def best_pairs(gain: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of a gain matrix that have the largest sum of gains. Each row and each column
    occurs at most once.

    Uses the Hungarian method (Kuhn 1955) with potentials, in O(n^3). A matrix with more than `GROUP_LIMIT` rows or
    columns is paired in order.
    """
    if not gain or not gain[0]:
        return []
    rows, columns = len(gain), len(gain[0])
    if max(rows, columns) > GROUP_LIMIT:
        return [(i, i) for i in range(min(rows, columns))]
    if rows > columns:
        return sorted((r, c) for c, r in best_pairs([[gain[r][c] for r in range(rows)] for c in range(columns)]))
    return _assign(gain, rows, columns)


def _assign(gain: Sequence[Sequence[float]], rows: int, columns: int) -> list[tuple[int, int]]:
    row_price, column_price = [0.0] * (rows + 1), [0.0] * (columns + 1)
    owner = [0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0], here = row, 0
        least = [float("inf")] * (columns + 1)
        came = [0] * (columns + 1)
        seen = [False] * (columns + 1)
        while owner[here]:
            seen[here] = True
            at, step, following = owner[here], float("inf"), 0
            for c in range(1, columns + 1):
                if seen[c]:
                    continue
                cost = -gain[at - 1][c - 1] - row_price[at] - column_price[c]
                if cost < least[c]:
                    least[c], came[c] = cost, here
                if least[c] < step:
                    step, following = least[c], c
            for c in range(columns + 1):
                if seen[c]:
                    row_price[owner[c]] += step
                    column_price[c] -= step
                else:
                    least[c] -= step
            here = following
        while here:
            owner[here], here = owner[came[here]], came[here]
    return sorted((owner[c] - 1, c - 1) for c in range(1, columns + 1) if owner[c])
