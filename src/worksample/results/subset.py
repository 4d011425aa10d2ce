"""A part of an experiment's work, chosen by options such as `--where category=upwork:writing --where agent=ann`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

import polars as pl

from worksample.errors import UsageError
from worksample.records import Instance

_COLUMNS = {
    "agent": ("agent", "agent_name", "label", "who", "entry_label"),
    "arm": ("arm",),
    "category": ("category",),
    "domain": ("category",),
    "experiment": ("experiment",),
    "harness": ("harness",),
    "instance": ("key", "instance"),
    "model": ("model",),
    "task": ("task",),
    "tier": ("tier",),
}
"""Columns in which the value of a field is searched. If no value matches, the error message lists the values of the
first column.
"""
_LISTS = ("cohort", "platform", "tag")
FIELDS = tuple(sorted((*_COLUMNS, *_LISTS)))
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Subset:
    """Conditions (field, value) that select work. For each field that occurs, a row must meet at least one of its
    conditions.

    A category includes its subcategories. A cohort is the month or the year in which jobs start. Raises UsageError for
    an unknown field.
    """

    conditions: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for field, _ in self.conditions:
            if field not in FIELDS:
                raise UsageError(f"no work can be chosen by {field!r}", next=f"--where with {', '.join(FIELDS)}")

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Subset:
        """Parse conditions from texts of the form `FIELD=VALUE`. Raises UsageError if a text has another form or names
        an unknown field.
        """
        parts = [text.partition("=") for text in texts]
        for (field, mark, value), text in zip(parts, texts, strict=True):
            if not (field.strip() and mark and value.strip()):
                raise UsageError(f"--where {text!r} is not FIELD=VALUE", next="such as --where category=upwork:writing")
        return cls(tuple((field.strip(), value.strip()) for field, _, value in parts))

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def __str__(self) -> str:
        return ", ".join(f"{field}={value}" for field, value in self.conditions)

    @property
    def by_instance(self) -> bool:
        """True if a condition can only be checked with the records of the instances."""
        return any(field in _LISTS for field, _ in self.conditions)

    def rows(self, frame: pl.DataFrame, instances: Mapping[str, Instance]) -> pl.DataFrame:
        """Return the rows that meet the conditions. instances: instance records by id, needed if `by_instance` is
        true.
        """
        for field in dict.fromkeys(field for field, _ in self.conditions):
            wanted = [value for name, value in self.conditions if name == field]
            each = [_meets(frame, field, value, instances) for value in wanted]
            frame = frame.filter(reduce(or_, each))
        return frame

    def check(self, frame: pl.DataFrame, instances: Mapping[str, Instance], entrants: Collection[str]) -> None:
        """Raise UsageError if no row has the value of a condition. entrants: names of entrants with submissions from
        outside, which are also accepted as agents.
        """
        for field, value in self.conditions:
            known = field == "agent" and value in entrants
            if not known and not _meets(frame, field, value, instances).any():
                _nobody(frame, field, value, instances)


def _meets(frame: pl.DataFrame, field: str, value: str, instances: Mapping[str, Instance]) -> pl.Series:
    if field in _LISTS:
        having = [id for id, instance in instances.items() if value in _values_of(field, instance)]
        return frame["instance"].is_in(having).alias(f"{field}={value}")
    columns = [name for name in _COLUMNS[field] if name in frame.columns]
    each = [pl.col(name) == value for name in columns]
    if field in ("category", "domain"):
        each.append(pl.col("category").str.starts_with(f"{value}/"))
    return frame.select(pl.any_horizontal(*each).fill_null(False).alias(f"{field}={value}")).to_series()


def _values_of(field: str, instance: Instance) -> Iterable[str]:
    if field == "cohort":
        month = instance.about.job.cohort if instance.about.job else ""
        return (month[:4], month) if month else ()
    return instance.about.tags if field == "tag" else instance.work.environment.services


def _nobody(frame: pl.DataFrame, field: str, value: str, instances: Mapping[str, Instance]) -> None:
    if field in _LISTS:
        known = {word for id in set(frame["instance"]) for word in _values_of(field, instances[id])}
    else:
        name = {"agent": "agent_name"}.get(field, _COLUMNS[field][0])
        known = {str(word) for word in frame[name].drop_nulls().unique() if word}
    if field == "domain":
        known = {word.partition("/")[0] for word in known}
    words = sorted(known)
    told = ", ".join(words[:_SHOWN]) + (f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else "")
    raise UsageError(
        f"no work in the chosen experiments has {field} {value!r}",
        next=f"one of {told}" if told else f"none has a {field}",
    )
