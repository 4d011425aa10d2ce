"""Counts behind a figure: the number planned, the number valid, and the states of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from worksample.errors import UsageError

from .column_checks import Column, text


class State(StrEnum):
    """State of a planned trial. Only valid trials have a score; no other state counts as 0."""

    VALID = "valid"
    INFRASTRUCTURE = "infrastructure"
    """A crash of the platform, of the sandbox or of the model's service."""
    UNGRADED = "ungraded"
    """Work was handed in, but nobody could grade it (yet)."""
    PENDING = "pending"
    """Planned but not run."""
    NOT_ATTEMPTABLE = "not_attemptable"
    """The agent lacks what the work requires: not counted as planned for it, but included in the bounds."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of trials. `planned` = valid + infrastructure_failed + ungraded + pending. `special`: other counts that a
    reader needs, by name.
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
        """Return the counts with more special ones; underscores in names become spaces."""
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
    """Return counts from the number of occurrences of each `State`."""
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
    """Return a number with its noun in the right form: `1 task`, `3 tasks`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
