"""Figures, moments and people as the API tells them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from worksample.app.server.json_models import ResponseBody
from worksample.people import Profile, profile_of
from worksample.records import Evaluator, EvaluatorKind

if TYPE_CHECKING:
    from worksample.metrics import Estimate


def figure_of(estimate: Estimate) -> AnyFigure:
    """The figure, or why there is none."""
    if estimate.value is None:
        return NoFigure(none=estimate.reason)
    plain = estimate.as_dict()
    counts = CountsView.model_validate(plain.pop("counts"))
    told = {name: plain[name] for name in Figure.model_fields if name in plain}
    return Figure.model_validate({**told, "counts": counts})


def micros_of(at: datetime) -> int:
    """Microseconds since 1970."""
    return round(at.timestamp() * 1000) * 1000


def background_of(evaluator: Evaluator | None) -> EvaluatorBackground:
    """What is known of a person; nothing of judge models, programs and people from elsewhere."""
    known = evaluator is not None and evaluator.type is EvaluatorKind.PERSON
    profile = profile_of(evaluator) if known and evaluator is not None else Profile()
    return EvaluatorBackground(
        domains=profile.domains, hours=profile.hours, earnings=profile.earnings, rating=profile.rating,
        pay_rate=profile.pay_rate,
    )  # fmt: skip


class CountsView(ResponseBody):
    """`planned` = valid + infrastructure_failed + ungraded + pending."""

    planned: int
    valid: int
    infrastructure_failed: int
    ungraded: int
    pending: int
    special: dict[str, int]


class Figure(ResponseBody):
    """A figure. `low` and `high` bound it at `level` by `method`; null where there is no interval."""

    name: str
    value: float
    low: float | None
    high: float | None
    level: float | None
    method: str
    unit: Literal["share", "points", "ratio", "elo", "usd", "hours", "count", "number"]
    printed: str
    """As tables print it, without the unit's sign."""
    counts: CountsView
    notes: tuple[str, ...]
    conditional_on: tuple[str, ...]


class NoFigure(ResponseBody):
    """There is none, and why."""

    none: str


AnyFigure = Figure | NoFigure


class EvaluatorBackground(ResponseBody):
    """Null is unknown. US dollars."""

    domains: tuple[str, ...]
    hours: float | None
    earnings: float | None
    rating: float | None
    pay_rate: float | None
