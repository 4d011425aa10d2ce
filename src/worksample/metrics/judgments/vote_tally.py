"""Tally of votes per subject, computed once and used for verdicts and for agreement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Column,
    Floats,
    Ints,
    codes,
    count_flags,
    floats,
    narrow,
    pair_codes,
    same_length,
    series,
)

MOST_STEPS = 64
_CHUNK = 1 << 17
"""Number of votes that are counted in one step, so that temporary data fit into the processor's cache."""
_PACKED = 4
"""Maximum number of values of a scale for which a subject's counts are packed into one number."""
_BITS = (2, 4, 12)
"""Number of bits for each count in a packed number. The next larger size is tried if a count does not fit."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of votes per subject, stored by pattern. A pattern is a combination of counts.

    Subject `labels[s]` has the pattern `which[s]`, that is, `table[which[s]]` votes for the values in `steps`. `steps`
    contains the values that were used, in ascending order. Millions of subjects share a few dozen patterns, so
    everything that depends only on counts is computed once per pattern. `missing` is the number of rows without a vote.
    """

    labels: pl.Series
    steps: Floats
    table: Ints
    which: NDArray[np.integer]
    times: Ints
    """Number of subjects that have each pattern."""
    missing: int

    @property
    def votes(self) -> Ints:
        """Number of votes in each pattern."""
        return np.asarray(self.table.sum(axis=1))

    def counts_of(self, *steps: float) -> Ints:
        """Return the number of votes for each of these values in each pattern, as an array of shape (values, patterns).
        A value that nobody used has 0 votes.
        """
        place = {float(step): i for i, step in enumerate(self.steps)}
        blank = np.zeros(len(self.table), dtype=np.int64)
        return np.stack([self.table[:, place[s]] if s in place else blank for s in steps])


_Patterns = tuple[Ints, NDArray[np.integer], Ints]
"""The patterns, the pattern of each subject, and the number of subjects of each pattern."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Votes as numbers.

    Row r is a vote on subject number `subject[r] - low` for value number `place[r] - first`. The number after the last
    value means that the row has no vote.
    """

    subject: NDArray[np.integer]
    low: int
    size: int
    place: NDArray[np.integer]
    first: int
    steps: int
    voted: int
    """Number of rows with a vote."""


def tally_votes(subject: Column, vote: Column) -> Tally:
    """Count the votes on each subject from one row per vote. A null is no vote. Raises UsageError for more than 64
    different votes.
    """
    same_length(subject=subject, vote=vote)
    place, first, steps, missing = _places(series("vote", vote))
    numbers, low, size, labels = _subjects(series("subject", subject))
    rows = _Rows(numbers, low, size, place, first, len(steps), len(place) - missing)
    found = next(filter(None, (_pack_counts(rows, bits) for bits in _BITS)), None) if len(steps) <= _PACKED else None
    table, which, times = found or _wide(rows)
    if labels is None:
        seen = np.asarray(table.any(axis=1))[which]
        if missing:
            seen[numbers - low] = True
        everyone = np.arange(low, low + size)
        labels = pl.Series("subject", everyone if seen.all() else everyone[seen])
        if not seen.all():
            which = which[seen]
            times = np.bincount(which, minlength=len(table))
    used = np.asarray(table.any(axis=0))
    if not used.all() and len(steps) > 1:
        used[0] |= not used.any()
        table, steps = table[:, used], steps[used]
    return Tally(labels, steps, np.ascontiguousarray(table), which, times, missing)


def _subjects(column: pl.Series) -> tuple[NDArray[np.integer], int, int, pl.Series | None]:
    """Return four parts: the number of each row's subject, the smallest number, how many numbers are possible, and the
    names of the subjects (None if subjects are numbers already).
    """
    if column.dtype.is_integer() and len(column) and not column.null_count():
        numbers = column.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < 4 * len(numbers) + 1000:
            return numbers, low, high - low + 1, None
    found = codes("subject", column)
    return found.index, 0, found.size, found.labels


def _places(column: pl.Series) -> tuple[NDArray[np.integer], int, Floats, int]:
    """Return four parts: the position of each row's vote on the scale, the position of the first value, the values, and
    the number of rows without a vote.
    """
    if column.dtype.is_integer() and len(column) and not column.null_count():
        numbers = column.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < MOST_STEPS:
            return numbers, low, np.arange(low, high + 1, dtype=np.float64), 0
    values, present = floats("vote", column)
    steps = np.asarray(pl.Series(values[present]).unique().sort().to_numpy(), dtype=np.float64)
    if len(steps) > MOST_STEPS:
        raise UsageError(
            f"the votes have {len(steps)} different values, which are too many",
            where="column 'vote'",
            next=f"use a scale of at most {MOST_STEPS} steps",
        )
    place = np.where(present, np.searchsorted(steps, np.where(present, values, 0)), max(len(steps), 1))
    return place, 0, steps if len(steps) else np.zeros(1), count_flags(~present)


def _pack_counts(rows: _Rows, bits: int) -> _Patterns | None:
    """Count patterns by adding up one packed number per subject, with `bits` bits for each value. Return None if a
    count does not fit into these bits.
    """
    steps = rows.steps
    # The smaller the numbers, the more of them stay in the processor's cache.
    kind = np.uint8 if bits * steps <= 8 else np.int32 if bits * steps < 20 else np.int64
    power = np.zeros(steps + 1, dtype=kind)
    power[:steps] = np.left_shift(1, bits * np.arange(steps))
    packed: NDArray[np.integer] = np.zeros(rows.size, dtype=kind)
    for start in range(0, len(rows.place), _CHUNK):
        part = slice(start, start + _CHUNK)
        place, subject = (each[part].astype(np.intp) for each in (rows.place, rows.subject))
        if rows.first:
            place -= rows.first
        if rows.low:
            subject -= rows.low
        np.add.at(packed, subject, power[place])
    found, which = _distinct(packed)
    mask = np.full(steps, (1 << bits) - 1, dtype=np.int64)
    mask[-1] = -1
    table = (found[:, None].astype(np.int64) >> (bits * np.arange(steps))) & mask
    times = np.bincount(which, minlength=len(table))
    # A count that ran over into the next step's bits makes the total too small.
    return (table, which, times) if int(table.sum(axis=1) @ times) == rows.voted else None


def _distinct(packed: NDArray[np.integer]) -> tuple[Ints, NDArray[np.integer]]:
    """Return the sorted distinct values, and for each element the position of its value. The function is fast if few of
    many values are distinct.
    """
    most = int(packed.max(initial=0))
    if most < 1 << 20:
        seen = np.zeros(most + 1, dtype=bool)
        seen[packed] = True
        found = np.flatnonzero(seen)
        return found, narrow(np.cumsum(seen) - 1, len(found))[packed]
    found = pl.Series(packed).unique().sort().to_numpy()
    return found, np.searchsorted(found, packed)


def _wide(rows: _Rows) -> _Patterns:
    index, place = rows.subject.astype(np.int64) - rows.low, rows.place.astype(np.int64) - rows.first
    voted = place < rows.steps
    if not voted.all():
        index, place = index[voted], place[voted]
    table = np.bincount(index * rows.steps + place, minlength=rows.size * rows.steps).reshape(rows.size, rows.steps)
    which, many = np.zeros(rows.size, dtype=np.int64), 1
    for column in table.T:
        which, keys = pair_codes(which, column.astype(np.int64), (many, int(column.max(initial=0)) + 1))
        many = len(keys)
    example = np.zeros(many, dtype=np.int64)
    example[which] = np.arange(rows.size)
    table = table[example] if rows.size else table
    return table.astype(np.int64), which, np.bincount(which, minlength=len(table))
