"""Comparison pages: agents side by side on a task, with their deliverables, the grade of each criterion, and their
steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from worksample.records import Criterion, GradePayload, Instance, PartPayload

from .deliverable_preview import FilePreview
from .transcript import TranscriptStep

MOST = 24
"""Maximum number of trials of one instance that are shown side by side."""
FILES = 12
STEPS = 40
LINE = 110
"""Maximum number of characters of the line that describes a step."""


@dataclass(frozen=True, slots=True)
class TrialColumn:
    """A trial as a column of the comparison. `row` is its row in the table of verdicts. `page` is the address of its
    page, relative to the top of the site.
    """

    row: Mapping[str, Any]
    page: str
    grade: GradePayload | None
    files: tuple[FilePreview, ...]
    more: int
    """Number of the trial's deliverables that are not shown."""
    steps: tuple[str, ...]

    @property
    def agent_name(self) -> str:
        """The agent's name. The number of the repeat is added from the second repeat on."""
        repeat = self.row["repeat"] or 1
        return str(self.row["entry_label"]) + (f", repeat {repeat}" if repeat > 1 else "")


@dataclass(frozen=True, slots=True)
class CriterionLine:
    """A criterion across all columns. A grade that does not contain the criterion has None."""

    text: str
    id: str
    parts: tuple[PartPayload | None, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Trials of one instance, side by side."""

    instance: str
    title: str
    pieces: tuple[TrialColumn, ...]
    left_out: int
    criteria: tuple[CriterionLine, ...]


def piece_of(
    row: Mapping[str, Any],
    page: str,
    grade: GradePayload | None,
    files: Sequence[FilePreview],
    steps: Iterable[TranscriptStep],
) -> TrialColumn:
    """Return a trial as a column, shortened for comparison at a glance."""
    lines = [line for step in steps if (line := _line(step))]
    return TrialColumn(row, page, grade, tuple(files[:FILES]), max(0, len(files) - FILES), tuple(lines[:STEPS]))


def group_by_instance(
    pieces: Iterable[TrialColumn], instances: Mapping[str, Instance], order: Sequence[str]
) -> list[SideBySide]:
    """Group the trials of one task by instance. `instances`: by id; `order`: names of agents, best first."""
    place = {name: at for at, name in enumerate(order)}

    def rank_key(piece: TrialColumn) -> tuple[int, str, int]:
        name = str(piece.row["entry_label"])
        return place.get(name, len(place)), name, piece.row["repeat"] or 1

    def instance_id(piece: TrialColumn) -> str:
        return str(piece.row["instance"])

    out = []
    for id, group in groupby(sorted(pieces, key=instance_id), key=instance_id):
        all_ = sorted(group, key=rank_key)
        shown = tuple(all_[:MOST])
        found = instances[id]
        out.append(SideBySide(found.name, found.title, shown, len(all_) - len(shown), tuple(_criteria(shown, found))))
    return sorted(out, key=lambda one: one.instance)


def texts_of(instance: Instance) -> dict[str, str]:
    """Return the text of each criterion by id, over all protocols of the instance."""
    found: dict[str, str] = {}
    for grading in instance.grading.values():
        _collect(grading.criteria.criteria, found)
    return found


def _collect(nodes: Iterable[Criterion], into: dict[str, str]) -> None:
    for node in nodes:
        into.setdefault(node.id, node.text)
        _collect(node.parts, into)


def _criteria(pieces: Sequence[TrialColumn], instance: Instance) -> Iterable[CriterionLine]:
    texts = texts_of(instance)
    by_name = [{part.name: part for part in (piece.grade.leaves if piece.grade else ())} for piece in pieces]
    for name in dict.fromkeys(name for parts in by_name for name in parts):
        yield CriterionLine(texts.get(name, name), name, tuple(parts.get(name) for parts in by_name))


def _line(step: TranscriptStep) -> str:
    """Return the agent's action in a step as one line. Return "" for a message to the agent."""
    if step.source in ("system", "user"):
        return ""
    if step.calls:
        return "; ".join(_shorten(f"{call.name}: {_first(call.arguments)}") for call in step.calls)
    return _shorten(_first(step.text))


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _shorten(text: str) -> str:
    return text if len(text) <= LINE else f"{text[: LINE - 1]}…"
