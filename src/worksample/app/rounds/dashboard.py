"""The dashboard of a round. Each part holds its figures or the reason why there are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import TypeVar

from worksample.app.rounds.schemas import (
    AgreementView,
    BackgroundView,
    Dashboard,
    GoldAnswer,
    GoldView,
    LeniencyView,
    PositionBiasView,
    ThroughputView,
)
from worksample.app.server.json_figures import AnyFigure, NoFigure, background_of, figure_of, micros_of
from worksample.app.server.route_services import AppServices
from worksample.errors import UsageError
from worksample.people import Form, RoundKind, false_negatives, gold_results
from worksample.people.access.evaluator_profile import person_of
from worksample.people.quality import round_dashboard as dashboard
from worksample.people.quality.background_leniency import backgrounds
from worksample.people.round_verdicts import rounds_over
from worksample.people.rounds.queues import Queue
from worksample.records import Evaluation, Evaluator, Round

from .responses import IMPORTED, find_round, progress_of

T = TypeVar("T")
_NOBODY = "nobody has judged yet"


def dashboard_of(services: AppServices, id: str) -> Dashboard:
    """Build the dashboard. Raises RecordMissing."""
    round, queue = find_round(services, id)
    people = _PeopleNames(services, id)
    return Dashboard(
        progress=NoFigure(none=IMPORTED) if queue is None else progress_of(services, id),
        agreement=_part_or_reason(lambda: _agreement(services, id)),
        leniency=_part_or_reason(lambda: _leniency(services, people, id)),
        backgrounds=_part_or_reason(lambda: _backgrounds(services, id)),
        position_bias=_part_or_reason(lambda: _position_bias(services, people, round)),
        throughput=NoFigure(none=IMPORTED)
        if queue is None
        else _part_or_reason(lambda: _throughput(services, people, id)),
        gold=_part_or_reason(lambda: _gold(services, people, queue)),
        false_negatives=_false_negatives(services, id),
    )


def _part_or_reason(part: Callable[[], T | NoFigure]) -> T | NoFigure:
    """Return the part, or its reason if the metrics refuse the votes, so that the other parts still show."""
    try:
        return part()
    except UsageError as e:
        return NoFigure(none=e.what)


class _PeopleNames:
    """Names of a round's people by account, and their latest Evaluator records."""

    def __init__(self, services: AppServices, id: str) -> None:
        versions = sorted({e.evaluator for e in services.store.find(Evaluation, round=id)})
        found = services.store.find(Evaluator, id=versions) if versions else []
        self._known = {person_of(e.id): e for e in sorted(found, key=lambda e: (e.at, e.id))}
        self._accounts = {a.id: a.name for a in services.people.accounts.all()}

    def name(self, person: str) -> str:
        known = self._known.get(person)
        return self._accounts.get(person) or (known.name if known else person)

    def evaluator(self, person: str) -> Evaluator | None:
        return self._known.get(person)


def _agreement(services: AppServices, id: str) -> AgreementView:
    found = dashboard.agreement(services.store, id)
    return AgreementView(**{f.name: figure_of(getattr(found, f.name)) for f in fields(found)})


def _leniency(services: AppServices, people: _PeopleNames, id: str) -> tuple[LeniencyView, ...] | NoFigure:
    rows = tuple(
        LeniencyView(
            person=row.person, name=people.name(row.person), background=background_of(people.evaluator(row.person)),
            own=figure_of(row.own), others=figure_of(row.others),
        )
        for row in dashboard.leniency(services.store, id)
    )  # fmt: skip
    return rows or NoFigure(none=_NOBODY)


def _backgrounds(services: AppServices, id: str) -> tuple[BackgroundView, ...] | NoFigure:
    rows = tuple(
        BackgroundView.model_validate(
            {
                "trait": row.trait, "group": row.group, "people": row.people, "own": figure_of(row.own),
                "others": figure_of(row.others),
            }
        )
        for row in backgrounds(services.store, id)
    )  # fmt: skip
    return rows or NoFigure(none=_NOBODY)


def _position_bias(
    services: AppServices, people: _PeopleNames, round: Round
) -> tuple[PositionBiasView, ...] | NoFigure:
    if round.versions.get("people.form") != Form.PAIRWISE:
        return NoFigure(none="only pairs have positions")
    return tuple(
        PositionBiasView(
            person=row.person, name=people.name(row.person) if row.person else "", completion=figure_of(row.completion),
            quality=figure_of(row.quality),
        )
        for row in dashboard.position_bias(services.store, round.id)
    )  # fmt: skip


def _throughput(services: AppServices, people: _PeopleNames, id: str) -> tuple[ThroughputView, ...] | NoFigure:
    rows = tuple(
        ThroughputView(
            person=row.person, name=people.name(row.person), given=row.given, declined=row.declined,
            minutes=row.minutes, over=row.over, first=_to_microseconds(row.first), last=_to_microseconds(row.last),
        )
        for row in dashboard.throughput(services.store, id)
    )  # fmt: skip
    return rows or NoFigure(none=_NOBODY)


def _gold(services: AppServices, people: _PeopleNames, queue: Queue | None) -> tuple[GoldView, ...] | NoFigure:
    if queue is None:
        return NoFigure(none=IMPORTED)
    rows = tuple(
        GoldView(
            person=row.account, name=people.name(row.account), share=figure_of(row.share), passed=row.passed,
            over_time=tuple(GoldAnswer(at=_to_microseconds(at), right=right) for at, right in row.over_time),
        )
        for row in gold_results(services.store, queue.round)
    )  # fmt: skip
    return rows or NoFigure(none="no gold item was answered here")


def _false_negatives(services: AppServices, id: str) -> AnyFigure | None:
    if not rounds_over(services.store, id, RoundKind.FALSE_NEGATIVES):
        return None
    return figure_of(false_negatives(services.store, id))


def _to_microseconds(at: str) -> int:
    return micros_of(datetime.fromisoformat(at))
