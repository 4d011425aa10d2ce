"""Figures, times and evaluators' backgrounds as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from worksample.app.server.json_models import ResponseBody
from worksample.people import Profile, profile_of
from worksample.records import Evaluator, EvaluatorKind

if TYPE_CHECKING:
    from worksample.metrics import Estimate


def figure_of(estimate: Estimate) -> AnyFigure:
    """Convert an estimate to a figure, or to the reason why there is none."""
    if estimate.value is None:
        return NoFigure(none=estimate.reason)
    plain = estimate.as_dict()
    counts = CountsView.model_validate(plain.pop("counts"))
    told = {name: plain[name] for name in Figure.model_fields if name in plain}
    return Figure.model_validate({**told, "counts": counts})


def micros_of(at: datetime) -> int:
    """Convert a time to microseconds since 1970."""
    return round(at.timestamp() * 1000) * 1000


def background_of(evaluator: Evaluator | None) -> EvaluatorBackground:
    """Return a person's background; an empty one for judge models, programs and imported people."""
    known = evaluator is not None and evaluator.type is EvaluatorKind.PERSON
    profile = profile_of(evaluator) if known and evaluator is not None else Profile()
    return EvaluatorBackground(
        domains=profile.domains, hours=profile.hours, earnings=profile.earnings, rating=profile.rating,
        pay_rate=profile.pay_rate,
    )  # fmt: skip


class CountsView(ResponseBody):
    """Counts behind a figure: `planned` = valid + infrastructure_failed + ungraded + pending."""

    planned: int
    valid: int
    infrastructure_failed: int
    ungraded: int
    pending: int
    special: dict[str, int]


class Figure(ResponseBody):
    """A figure with its interval from `low` to `high` at `level`, by `method`; null if it has no interval."""

    name: str
    value: float
    low: float | None
    high: float | None
    level: float | None
    method: str
    unit: Literal["share", "points", "ratio", "elo", "usd", "hours", "count", "number"]
    printed: str
    """The value as tables print it, without the unit's sign."""
    counts: CountsView
    notes: tuple[str, ...]
    conditional_on: tuple[str, ...]


class NoFigure(ResponseBody):
    """The reason why there is no figure."""

    none: str


AnyFigure = Figure | NoFigure


class EvaluatorBackground(ResponseBody):
    """The background of an evaluator. Null means unknown; money is in US dollars."""

    domains: tuple[str, ...]
    hours: float | None
    earnings: float | None
    rating: float | None
    pay_rate: float | None
