"""Figures, moments and people as the API tells them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from worksample.app.schemas.admin import AnyFigure, BackgroundOf, CountsView, Figure, NoFigure
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


def background_of(evaluator: Evaluator | None) -> BackgroundOf:
    """What is known of a person; nothing of judge models, programs and people from elsewhere."""
    known = evaluator is not None and evaluator.type is EvaluatorKind.PERSON
    profile = profile_of(evaluator) if known and evaluator is not None else Profile()
    return BackgroundOf(
        domains=profile.domains, hours=profile.hours, earnings=profile.earnings, rating=profile.rating,
        pay_rate=profile.pay_rate,
    )  # fmt: skip
