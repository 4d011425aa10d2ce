"""What waits, for whom, and where evaluators part."""

from __future__ import annotations

from typing import Literal

from worksample.people import Form
from worksample.records import Protocol

from .base import ResponseBody
from .places import SeatView


class RoundWaits(ResponseBody):
    """`votes`: still wanted of people. `minutes`: of one, the median so far, else the form's soft limit (`measured`
    false). `hours` and `pay` (US dollars) are what is left; null is unknown."""

    round: str
    kind: str
    form: Form
    protocol: Protocol
    state: Literal["open", "paused", "closed"]
    votes: int
    out: int
    minutes: float
    measured: bool
    hours: float
    pay: float | None


class WaitingWork(ResponseBody):
    """A submission without a verdict, and for whom it waits."""

    submission: str
    instance: str
    waits_for: Literal["person", "judge", "program"]


class ExperimentWaits(ResponseBody):
    """Submissions by what they wait for, under the experiment's first protocol; `open` slots are still worked at.
    `work`: the first of those that wait, by instance. `reattempts`: of the planned ones those that chains committed;
    `due`: those that the rule asks for by now, and that the next run makes. `places`: open ones of people who work,
    `seats` those that somebody has.
    """

    experiment: str
    name: str
    planned: int
    open: int
    graded: int
    waits_for_people: int
    waits_for_judge: int
    ungraded: int
    reattempts: int
    due: int
    places: int
    rounds: tuple[RoundWaits, ...]
    work: tuple[WaitingWork, ...]
    seats: tuple[SeatView, ...]


class Side(ResponseBody):
    """What one evaluator said. `passed` is what parts them; `said` is it in the form's words."""

    evaluation: str
    round: str
    kind: Literal["person", "judge", "program"]
    name: str
    passed: bool
    said: str
    why: str


class Disagreement(ResponseBody):
    """Evaluators who part on one question about a submission. `criterion` "" is the whole."""

    submission: str
    instance: str
    criterion: str
    text: str
    between: tuple[Literal["person", "judge", "program"], ...]
    """The kinds that part: one kind where people part with people."""
    sides: tuple[Side, ...]


class Disagreements(ResponseBody):
    """`looked_at`: questions that two or more answered. The list is cut at `most`."""

    looked_at: int
    parted: int
    most: int
    rows: tuple[Disagreement, ...]
