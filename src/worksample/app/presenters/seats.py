"""Places as an admin sees them: who has which, and since when nothing was heard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.app.schemas.places import SeatView
from worksample.people.access.profile import person_of
from worksample.people.clock import moment
from worksample.results.places.waiting import places_of

if TYPE_CHECKING:
    from worksample.app.services import AppServices
    from worksample.records import Experiment


def seats_of(services: AppServices, experiment: Experiment) -> tuple[SeatView, ...]:
    """The places of an experiment that somebody has, by task."""
    now = moment(services.people.clock())
    held = [p for p in places_of(services.store, experiment) if p.seat.is_held(now)]
    names = {a.id: a.name for a in services.people.accounts.all()} if held else {}
    rows = [
        SeatView(
            slot=place.slot.id,
            title=place.instance.title,
            name=names.get(person_of(place.seat.person), ""),
            state="agent" if not place.waits else "running" if place.seat.running else "paused",
            seconds=place.seat.seconds_at(now),
            last=_micros(place.seat.last.timestamp()) if place.seat.last else 0,
            until=_micros(place.seat.until.timestamp()) if place.seat.until else None,
        )
        for place in held
    ]
    return tuple(sorted(rows, key=lambda row: (row.title, row.slot)))


def _micros(seconds: float) -> int:
    return int(seconds * 1_000_000)
