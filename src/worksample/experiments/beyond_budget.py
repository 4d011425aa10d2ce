"""By how much a plan may pass its budget."""

from __future__ import annotations

from worksample.models import Price
from worksample.models.usage import dearest_call
from worksample.records import Agent
from worksample.runs.limits import limits_of

from .planning import Plan


def beyond_budget(planned: Plan, prices: dict[str, Price]) -> float | None:
    """US dollars of one call per trial with a budget; None where a model's context or longest answer is unknown."""
    m = planned.material
    agents, instances, arms = ({a.id: a for a in m.agents}, {i.id: i for i in m.instances}, {a.name: a for a in m.arms})
    calls = {agent.id: _call(agent, prices) for agent in m.agents}
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


def _call(agent: Agent, prices: dict[str, Price]) -> float | None:
    if agent.harness == "scripted" or agent.model is None:
        return 0.0
    return dearest_call(agent.model, prices, agent.settings.get("generation"))
