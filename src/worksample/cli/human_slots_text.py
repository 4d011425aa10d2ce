"""Text about slots in which people work: their number, the hours and the pay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import dollars

if TYPE_CHECKING:
    from worksample.experiments.planning.experiment_plan import Plan
    from worksample.experiments.planning.plan_forecast import Forecast
    from worksample.records import Experiment
    from worksample.store import Store


def open_work_text(store: Store, experiment: Experiment) -> str:
    """Return a text with the number of slots that wait for people, the hours that their tasks state, and the pay."""
    from worksample.results.assignments.human_slots import open_work_of

    waiting = [place for place in open_work_of(store, experiment) if place.waits]
    taken = sum(place.assignment.held for place in waiting)
    hours = None if any(place.hours is None for place in waiting) else sum(place.hours or 0 for place in waiting)
    slots = "1 slot" if len(waiting) == 1 else f"{len(waiting)} slots"
    return (
        f"waits for people who work: {slots}, {taken} of them taken; "
        f"{hours_text(hours, waiting[0].pay if waiting else None)}"
    )


def hours_text(hours: float | None, pay: float | None) -> str:
    """Return a text with the hours of people's work and the pay for them."""
    if hours is None:
        return "hours unknown: some tasks do not state how long people take"
    cost = "pay unknown: set people.pay (--pay)" if pay is None else dollars(hours * pay)
    return f"about {hours:.1f} h as their tasks state, {cost}"


def paid_for(plan: Plan, expected: Forecast) -> float | None:
    """Return the pay for people's work in US dollars; None if the hours or the pay per hour are unknown."""
    from worksample.results.assignments.human_slots import pay_of

    pay = pay_of(plan.experiment)
    if not expected.seats:
        return 0.0
    return None if pay is None or expected.hours is None else expected.hours * pay
