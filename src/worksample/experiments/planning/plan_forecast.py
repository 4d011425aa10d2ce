"""Forecast of a plan: the maximum time, the maximum cost, and the hours that people need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from worksample.models import Price
from worksample.models.usage import dearest_call
from worksample.records import (
    Agent,
    Feedback,
    Worker,
)
from worksample.runs.trial_limits import limits_of

from .experiment_plan import Plan


@dataclass(frozen=True)
class Forecast:
    """Upper bounds of a plan. A bound is None (unknown) if a trial has no limit from which the bound could be
    computed.
    """

    trials: int
    not_attemptable: int
    seconds: float | None
    """Maximum wall-clock time of the experiment in seconds, if `parallel` trials run at the same time."""
    cost: float | None
    """Maximum cost in US dollars; 0 if no agent calls a model."""
    beyond_budget: float | None = 0.0
    """Maximum cost in US dollars beyond the budgets of the trials. A budget is checked after each call, so the call
    that exceeds the budget must still be paid.
    """
    reattempts: int = 0
    """Number of trials of this forecast that are re-attempts. They run only if the chains' rule requires them."""
    seats: int = 0
    """Number of trials of this forecast in which a person works."""
    hours: float | None = 0.0
    """Hours of work that people need, as the tasks state them; None if a task states no hours."""


def forecast(planned: Plan, parallel: int, calls_model: Callable[[Agent], bool]) -> Forecast:
    """Compute the upper bounds of a plan from the limits of its trials."""
    m = planned.inputs
    agents, instances, arms = ({r.id: r for r in m.agents}, {r.id: r for r in m.instances}, {a.name: a for a in m.arms})
    seconds: float | None = 0.0
    cost: float | None = 0.0
    seats, hours = 0, cast("float | None", 0.0)
    for slot in (*planned.attemptable, *planned.later):
        limits = limits_of(instances[slot.instance], arms[slot.arm], agents[slot.agent])
        if arms[slot.arm].feedback is Feedback.UNCHANGED:
            continue
        if arms[slot.arm].worker is not Worker.AGENT:
            about = instances[slot.instance].about.hours
            seats += 1
            hours = None if hours is None or about is None else hours + about.middle
        if arms[slot.arm].worker is Worker.HUMAN:
            continue
        seconds = None if seconds is None or limits.time is None else seconds + limits.time
        if calls_model(agents[slot.agent]):
            cost = None if cost is None or limits.cost is None else cost + limits.cost
    if seconds is not None:
        seconds /= min(parallel, max(1, len(planned.attemptable)))
    count = len(planned.attemptable)
    later = len(planned.later)
    absent = len(planned.slots) - count
    return Forecast(count + later, absent, seconds, cost, reattempts=later, seats=seats, hours=hours)


def beyond_budget(planned: Plan, prices: dict[str, Price]) -> float | None:
    """Return the maximum cost in US dollars beyond the budgets: for each trial with a budget, one call at the highest
    possible cost. Return None if the context size or the maximum answer length of a model is unknown.
    """
    m = planned.inputs
    agents, instances, arms = ({a.id: a for a in m.agents}, {i.id: i for i in m.instances}, {a.name: a for a in m.arms})
    calls = {agent.id: _dearest_call(agent, prices) for agent in m.agents}
    over = 0.0
    for slot in (*planned.attemptable, *planned.later):
        limits = limits_of(instances[slot.instance], arms[slot.arm], agents[slot.agent])
        if limits.cost is None:
            continue
        call = calls[slot.agent]
        if call is None:
            return None
        over += call
    return over


def _dearest_call(agent: Agent, prices: dict[str, Price]) -> float | None:
    if agent.harness == "scripted" or agent.model is None:
        return 0.0
    return dearest_call(agent.model, prices, agent.settings.get("generation"))


def prices_with_scripts(prices: Mapping[str, Price], agents: Iterable[Agent]) -> dict[str, Price]:
    """Return the prices, with a price of 0 added for the models of scripted agents."""
    free = {a.model: Price(input=0, output=0) for a in agents if a.harness == "scripted" and a.model}
    return {**free, **prices}
