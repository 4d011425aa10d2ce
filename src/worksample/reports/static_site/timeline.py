"""Timeline of a trial: the step in which each checkpoint was earned, if the grader states the time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from worksample.records import Criterion, GradePayload, Instance, PartPayload

from .transcript import TranscriptStep

SECOND = timedelta(seconds=1)
"""Precision of services' times: a time without a fraction of a second may be anywhere within that second."""


@dataclass(frozen=True, slots=True)
class TimedCheckpoint:
    """A checkpoint of a timeline. `first` and `last` are the numbers of the first and last step that may have earned
    the checkpoint; None if unknown.
    """

    part: PartPayload
    kind: str
    where: str
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Checkpoints of a trial in the order in which they were earned. Checkpoints earned at an unknown time follow.
    Checkpoints that were not earned come last.
    """

    earned: tuple[TimedCheckpoint, ...] = ()

    def at(self, step: int) -> list[TimedCheckpoint]:
        """Return the checkpoints that this step alone may have earned."""
        return [one for one in self.earned if one.first == one.last == step]


def timeline(grades: Iterable[GradePayload], instance: Instance, steps: Sequence[TranscriptStep]) -> Timeline:
    """Build the timeline of a trial whose verdict rests on `grades`; empty if neither a time nor a kind of checkpoint
    is known.
    """
    parts = {part.name: part for grade in grades for part in grade.leaves}
    kinds = {
        leaf.id: leaf.kind.value
        for grading in instance.grading.values() for leaf in _leaves(grading.criteria.criteria) if leaf.kind
    }  # fmt: skip
    if not any(part.at for part in parts.values()) and not kinds.keys() & parts.keys():
        return Timeline()
    times = {n: step.at for n, step in enumerate(steps, 1) if step.at is not None and step.source == "agent"}
    found = [_place_part(part, kinds.get(name, ""), times) for name, part in parts.items()]
    return Timeline(tuple(sorted(found, key=_order)))


def _leaves(nodes: Iterable[Criterion]) -> Iterable[Criterion]:
    return (leaf for node in nodes for leaf in node.leaves)


def _order(one: TimedCheckpoint) -> tuple[bool, datetime]:
    late = datetime.max.replace(tzinfo=UTC)
    return not one.part.fraction, one.part.at or late


def _place_part(part: PartPayload, kind: str, times: Mapping[int, datetime]) -> TimedCheckpoint:
    if not part.fraction:
        return TimedCheckpoint(part, kind, "not judged" if part.fraction is None else "not earned")
    if part.at is None:
        return TimedCheckpoint(part, kind, "earned; the work does not show when")
    if not times:
        return TimedCheckpoint(part, kind, "the transcript's steps have no times")
    until = part.at if part.at.microsecond else part.at + SECOND
    ends = [*list(times.values())[1:], datetime.max.replace(tzinfo=UTC)]
    near = [n for (n, begins), ends_ in zip(times.items(), ends, strict=True) if begins <= until and ends_ > part.at]
    if not near:
        return TimedCheckpoint(part, kind, "before the agent's first step")
    where = f"step {near[0]}" if len(near) == 1 else f"one of the steps {near[0]} to {near[-1]}"
    return TimedCheckpoint(part, kind, where, near[0], near[-1])
