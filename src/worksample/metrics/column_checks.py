"""Checks of columns that callers pass: types, gaps, NaN and ranges are checked only in this module.

A column is a polars Series, a numpy array or a sequence. A missing value is null (None); NaN is an error, since it may
result from a failed computation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from worksample.dollar_text import LARGEST
from worksample.errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
MONEY_CEILING = LARGEST
"""Maximum plausible price of one item in US dollars. A higher price is treated as a mistake."""


@dataclass(frozen=True, slots=True)
class Codes:
    """A column of names stored as numbers: the name of row i is `labels[index[i]]`.

    Labels that are integers are sorted; texts are in the order of their first appearance. Every figure accepts a
    `Codes` instead of a plain column, so that a column used by several figures is converted only once.
    """

    index: Ints
    labels: pl.Series

    def __len__(self) -> int:
        return len(self.index)

    @property
    def size(self) -> int:
        return len(self.labels)

    def names(self) -> list[str]:
        return [str(label) for label in self.labels.to_list()]


Column = Sequence[Any] | NDArray[Any] | pl.Series | Codes


def series(name: str, values: Column) -> pl.Series:
    """Return any column as a polars Series. Raises UsageError if the column mixes values of several types."""
    if isinstance(values, pl.Series):
        return values
    if isinstance(values, Codes):
        return values.labels.gather(values.index).alias(name)
    return _to_series(name, values)


def _to_series(name: str, values: Sequence[Any] | NDArray[Any]) -> pl.Series:
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise UsageError(
            f"the array has {values.ndim} dimensions, not one", where=f"column {name!r}", next="pass one value per row"
        )
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.tolist()
    try:
        return pl.Series(name, values)
    except TypeError as error:
        if all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in values):
            return pl.Series(name, values, dtype=pl.Float64, strict=False)
        first = str(error).splitlines()[0]
        raise UsageError(first, where=f"column {name!r}", next="pass values of one type") from error


def pick_rows(values: Column, rows: Ints) -> pl.Series:
    """Return the values of a column at the positions `rows`."""
    if isinstance(values, Codes):
        return values.labels.gather(values.index[rows])
    return series("column", values).gather(rows)


def count_flags(rows: Flags) -> int:
    """Count the true flags. This is seven times as fast as summing the array."""
    return int(np.count_nonzero(rows))


def same_length(**columns: Column | None) -> int:
    """Return the common length of the given columns. Raises UsageError if the columns differ in length."""
    sizes = {name: len(values) for name, values in columns.items() if values is not None}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise UsageError(
            f"the columns have different lengths: {told}", next="pass columns of the same length, one row per item"
        )
    return next(iter(sizes.values()), 0)


def floats(name: str, values: Column, *, low: float | None = None, high: float | None = None) -> tuple[Floats, Flags]:
    """Return a column as numbers, and a flag per row that is false if the value is missing. A missing value is NaN
    among the numbers.
    """
    column = series(name, values)
    if column.dtype == pl.Null:
        return np.full(len(column), np.nan), np.zeros(len(column), dtype=bool)
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise UsageError(
            f"the column holds {column.dtype}, not numbers",
            where=f"column {name!r}",
            next="pass numbers, and None for what is missing",
        )
    if not column.null_count():
        numbers = (column if column.dtype == pl.Float64 else column.cast(pl.Float64)).to_numpy()
        return _full(name, numbers, low, high), np.ones(len(column), dtype=bool)
    present = column.is_not_null().to_numpy()
    numbers = column.cast(pl.Float64).fill_null(0.0).to_numpy()
    _refuse_endless(name, numbers)
    if len(numbers):
        least, most = float(numbers.min(initial=0.0, where=present)), float(numbers.max(initial=0.0, where=present))
        if low is not None and least < low:
            _out_of_range(name, numbers, (numbers < low) & present, f"below {low:g}", f"{low:g} or more")
        if high is not None and most > high:
            _out_of_range(name, numbers, (numbers > high) & present, f"above {high:g}", f"{high:g} or less")
    return np.where(present, numbers, np.nan), present


def _full(name: str, numbers: Floats, low: float | None, high: float | None) -> Floats:
    """Return `floats` for a column without missing values. Only the smallest and the largest number are checked,
    because NaN and infinity show in them.
    """
    if not len(numbers):
        return numbers
    least, most = float(numbers.min()), float(numbers.max())
    if not (math.isfinite(least) and math.isfinite(most)):
        _refuse_endless(name, numbers)
    if low is not None and least < low:
        _out_of_range(name, numbers, numbers < low, f"below {low:g}", f"{low:g} or more")
    if high is not None and most > high:
        _out_of_range(name, numbers, numbers > high, f"above {high:g}", f"{high:g} or less")
    return numbers


def _refuse_endless(name: str, numbers: Floats) -> None:
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"the value {numbers[row]} in row {row} is not a finite number",
            where=f"column {name!r}",
            next="pass None for what is missing",
        )


def _out_of_range(name: str, numbers: Floats, wrong: Flags, says: str, wanted: str) -> None:
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise UsageError(
            f"the value {numbers[rows[0]]:g} in row {int(rows[0])} is {says} (rows with such a value: {len(rows)})",
            where=f"column {name!r}",
            next=f"pass {wanted}",
        )


def money(name: str, values: Column, *, ceiling: float = MONEY_CEILING) -> tuple[Floats, Flags]:
    """Return a column of US dollars as numbers, and a flag per row that is false if the amount is missing. Amounts must
    be 0 or more and below `ceiling`. A missing price is null, never 0.
    """
    return floats(name, values, low=0.0, high=ceiling)


def flags(name: str, values: Column) -> tuple[Flags, Flags]:
    """Return a column of booleans (or of 0 and 1), and a flag per row that is false if the value is missing."""
    column = series(name, values)
    if column.dtype == pl.Boolean and not column.null_count():
        return column.to_numpy(), np.ones(len(column), dtype=bool)
    if column.dtype == pl.Boolean:
        present = column.is_not_null().to_numpy()
        return column.fill_null(False).to_numpy(), present
    numbers, present = floats(name, column)
    wrong = present & (numbers != 0) & (numbers != 1)
    _out_of_range(name, numbers, wrong, "neither 0 nor 1", "True or False")
    return np.nan_to_num(numbers) == 1, present


def integers(name: str, values: Column, *, low: int | None = None, high: int | None = None) -> tuple[Ints, Flags]:
    """Return a column as whole numbers, and a flag per row that is false if the value is missing. A missing value is 0
    among the numbers.
    """
    column = series(name, values)
    if column.dtype.is_integer():
        holes = column.null_count()
        present = column.is_not_null().to_numpy() if holes else np.ones(len(column), dtype=bool)
        numbers = (column.fill_null(low or 0) if holes else column).to_numpy()
        if len(numbers) and ((low is not None and numbers.min() < low) or (high is not None and numbers.max() > high)):
            floats(name, column, low=low, high=high)
        return (numbers * present if holes else numbers).astype(np.int64, copy=False), present
    real, present = floats(name, column, low=low, high=high)
    whole = np.nan_to_num(real)
    _out_of_range(name, real, whole != np.floor(whole), "not a whole number", "whole numbers")
    return whole.astype(np.int64), present


def whole(name: str, values: Column, *, low: int | None = None, high: int | None = None) -> Ints:
    """Return a column as whole numbers. Raises UsageError if a value is missing."""
    numbers, present = integers(name, values, low=low, high=high)
    _complete(name, present)
    return numbers


def complete(name: str, values: Column, *, low: float | None = None, high: float | None = None) -> Floats:
    """Return a column as numbers. Raises UsageError if a value is missing."""
    numbers, present = floats(name, values, low=low, high=high)
    _complete(name, present)
    return numbers


def _complete(name: str, present: Flags) -> None:
    if not present.all():
        row = int(np.flatnonzero(~present)[0])
        raise UsageError(
            f"the value in row {row} is missing", where=f"column {name!r}", next="leave such rows out, or state why"
        )


def text(name: str, values: Column) -> pl.Series:
    """Return a column as texts or categories. Raises UsageError if a value is missing."""
    column = series(name, values)
    if column.dtype == pl.Null and len(column) == 0:
        return column.cast(pl.String)
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise UsageError(f"the column holds {column.dtype}, not text", where=f"column {name!r}", next="pass texts")
    if column.null_count():
        _complete(name, column.is_not_null().to_numpy())
    return column if column.dtype == pl.String else column.cast(pl.String)


def codes(name: str, values: Column) -> Codes:
    """Return a column of names (texts, categories, whole numbers or dates) as `Codes`. Raises UsageError if a name is
    missing.
    """
    if isinstance(values, Codes):
        return values
    column = series(name, values)
    if column.null_count():
        _complete(name, column.is_not_null().to_numpy())
    if column.dtype == pl.Null:
        return Codes(np.zeros(0, dtype=np.int64), column.cast(pl.String))
    if column.dtype.is_integer():
        return _integer_codes(column)
    if column.dtype.is_float() or column.dtype.is_nested():
        raise UsageError(
            f"the column holds {column.dtype}, which cannot be names",
            where=f"column {name!r}",
            next="pass texts, whole numbers or dates",
        )
    if column.dtype in (pl.Categorical, pl.Enum):
        numbers = column.to_physical()
        found = _integer_codes(numbers)
        return Codes(found.index, found.labels.cast(numbers.dtype).cat.to(column.dtype).cast(pl.String))
    if column.dtype == pl.String:
        labels = column.unique(maintain_order=True)
        index = column.cast(pl.Enum(labels)).to_physical().to_numpy().astype(np.int64)
        return Codes(index, labels)
    labels = column.unique().sort()
    return Codes(np.asarray(labels.search_sorted(column).to_numpy(), dtype=np.int64), labels)


def _integer_codes(column: pl.Series) -> Codes:
    if not len(column):
        return Codes(np.zeros(0, dtype=np.int64), column)
    numbers = column.to_numpy()
    low, high = int(numbers.min()), int(numbers.max())
    if low == high:
        return Codes(np.broadcast_to(np.int64(0), len(numbers)), pl.Series(column.name, [low]))
    if high - low >= 4 * len(numbers) + 1000:
        labels, index = np.unique(numbers, return_inverse=True)
        return Codes(index.astype(np.int64), pl.Series(column.name, labels))
    shifted = numbers.astype(np.int64)
    if low:
        shifted -= low
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[shifted] = True
    if not seen.all():
        shifted = (np.cumsum(seen) - 1)[shifted]
        return Codes(shifted, pl.Series(column.name, np.flatnonzero(seen) + low))
    return Codes(shifted, pl.int_range(low, high + 1, eager=True).alias(column.name))


def narrow(index: Ints, size: int) -> NDArray[np.integer]:
    """Return the numbers, all below `size`, in the smallest integer type that can store them. Small types are the
    fastest to sort and copy.
    """
    return index.astype(np.int8 if size <= 1 << 7 else np.int16 if size <= 1 << 15 else np.int32)


def pair_codes(first: Ints, second: Ints, sizes: tuple[int, int]) -> tuple[Ints, Ints]:
    """Number the distinct pairs (first, second).

    Return the number of each row's pair, and for each number the key `first * sizes[1] + second` of its pair.
    """
    keys = first * max(sizes[1], 1)
    keys += second
    cells = sizes[0] * max(sizes[1], 1)
    if cells <= 8 * len(keys) + 100_000:
        seen = np.zeros(cells, dtype=bool)
        seen[keys] = True
        return (np.cumsum(seen) - 1)[keys], np.flatnonzero(seen)
    found, index = np.unique(keys, return_inverse=True)
    return index.astype(np.int64), found


def all_differ(first: Ints, second: Ints, sizes: tuple[int, int]) -> bool:
    """Return whether every pair (first, second) occurs only once. Return False also if there are too many possible
    pairs to check.
    """
    cells = sizes[0] * sizes[1]
    if cells > 32 * len(first) + 1_000_000:
        return False
    keys = first * sizes[1]
    keys += second
    seen = np.zeros(cells, dtype=bool)
    seen[keys] = True
    return count_flags(seen) == len(first)


def days(date: Column) -> pl.Series:
    """Return a column of dates as polars dates. Texts must be complete ISO dates, because the text "2026-10" sorts
    before "2026-9".
    """
    column = series("date", date)
    if column.dtype != pl.String:
        return column
    found = column.str.to_date("%Y-%m-%d", strict=False)
    if (wrong := found.is_null() & column.is_not_null()).any():
        raise UsageError(f"{column.filter(wrong)[0]!r} is not a date", where="column 'date'", next="YYYY-MM-DD")
    return found
