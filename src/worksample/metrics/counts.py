"""Counts of trials behind a figure: planned trials, valid trials, and the states of all other trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from worksample.errors import UsageError

from .column_checks import Column, text


class State(StrEnum):
    """State of a planned trial. Only a valid trial has a score. Trials in the other states are left out and do not
    count as 0.
    """

    VALID = "valid"
    INFRASTRUCTURE = "infrastructure"
    """The platform, the sandbox or the model's service crashed."""
    UNGRADED = "ungraded"
    """Work was submitted, but nobody could grade it, or nobody has graded it yet."""
    PENDING = "pending"
    """The trial is planned but has not been run."""
    NOT_ATTEMPTABLE = "not_attemptable"
    """The agent lacks what the work requires. The trial does not count as planned, but the bounds of a figure include
    it.
    """


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of trials behind a figure.

    `planned` is the sum of valid, infrastructure_failed, ungraded and pending. `special` contains further counts by
    name, such as the number of common tasks.
    """

    planned: int
    valid: int
    infrastructure_failed: int = 0
    ungraded: int = 0
    special: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = (self.planned, self.valid, self.infrastructure_failed, self.ungraded)
        if min(parts) < 0:
            raise UsageError(f"the counts {parts} must not be negative", where="counts", next="pass 0 or more of each")
        if sum(parts[1:]) > self.planned:
            raise UsageError(
                f"{self.valid} valid, {self.infrastructure_failed} failed and {self.ungraded} ungraded are more than"
                f" the {self.planned} planned",
                where="counts",
                next="count everything that was planned, or leave `planned` out",
            )
        object.__setattr__(self, "special", MappingProxyType(dict(self.special)))

    @property
    def pending(self) -> int:
        return self.planned - self.valid - self.infrastructure_failed - self.ungraded

    def having(self, **special: int) -> Counts:
        """Return these counts with further special counts. Underscores in names become spaces."""
        more = {name.replace("_", " "): int(count) for name, count in special.items()}
        return replace(self, special={**self.special, **more})

    def as_dict(self) -> dict[str, object]:
        """Return the counts as JSON types."""
        return {
            "planned": self.planned,
            "valid": self.valid,
            "infrastructure_failed": self.infrastructure_failed,
            "ungraded": self.ungraded,
            "pending": self.pending,
            "special": dict(self.special),
        }


def count_states(state: Column) -> Counts:
    """Count a column of `State` values, one row for each planned trial."""
    column = text("state", state)
    return counts_of({str(value): int(count) for value, count in column.value_counts().iter_rows()})


def counts_of(found: Mapping[str, int]) -> Counts:
    """Return the counts for a mapping from each `State` to its number of trials."""
    unknown = sorted(set(found) - set(State))
    if unknown:
        raise UsageError(
            f"unknown state: {', '.join(unknown)}",
            where="column 'state'",
            next=f"use one of {', '.join(sorted(State))}",
        )
    never = found.get(State.NOT_ATTEMPTABLE, 0)
    return Counts(
        planned=sum(found.values()) - never,
        valid=found.get(State.VALID, 0),
        infrastructure_failed=found.get(State.INFRASTRUCTURE, 0),
        ungraded=found.get(State.UNGRADED, 0),
        special={"not attemptable": never} if never else {},
    )


def sum_counts(parts: Iterable[Counts]) -> Counts:
    """Add up the counts of all parts."""
    each = list(parts)
    special: dict[str, int] = {}
    for part in each:
        for name, count in part.special.items():
            special[name] = special.get(name, 0) + count
    return Counts(
        sum(part.planned for part in each),
        sum(part.valid for part in each),
        sum(part.infrastructure_failed for part in each),
        sum(part.ungraded for part in each),
        special,
    )


def with_noun(number: int, what: str) -> str:
    """Return a number with its noun in the singular or plural: `1 task`, `3 tasks`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
