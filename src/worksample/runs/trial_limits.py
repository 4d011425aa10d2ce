"""The limits that apply to a trial."""

from __future__ import annotations

from worksample.records import Agent, Arm, Instance, Limits

FIELDS = ("time", "cost", "tokens", "turns")


def limits_of(instance: Instance, arm: Arm, agent: Agent | None = None) -> Limits:
    """Combine the limits of an instance, an agent (from its preset) and an arm. For each limit, the arm's value comes
    first, then the agent's, then the instance's.

    Memory, processes and disk always come from the instance.
    """
    limits = instance.work.environment.limits
    own = (agent.settings.get("limits") or {}) if agent is not None else {}
    changes = {name: own[name] for name in FIELDS if own.get(name) is not None}
    if arm.limits is not None:
        changes |= {name: value for name in FIELDS if (value := getattr(arm.limits, name)) is not None}
    return limits.replaced(**changes)
