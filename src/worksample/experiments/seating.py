"""Who works under which arm, and what people cannot do at their places."""

from __future__ import annotations

from worksample.agents.agent_definition import HUMAN
from worksample.records import Agent, Arm, Instance, Worker


def works(agent: Agent, arm: Arm) -> bool:
    """Whether the agent is one of those who work under the arm: people work in arms of their own."""
    return (agent.harness == HUMAN) == (arm.worker is Worker.HUMAN)


def no_seat(arm: Arm, instance: Instance) -> str:
    """Why a person cannot do the instance, or "" where one can."""
    environment = instance.work.environment
    if arm.worker is Worker.AGENT:
        return ""
    if environment.served or environment.workplace is not None or environment.services:
        return "needs services, which a person's place does not have"
    if "browser" in environment.interfaces:
        return "needs a browser that is recorded, which a person's place does not have"
    if environment.steps:
        return "has steps that are told one after the other, which a person's place does not do"
    if environment.endpoints or environment.mcp:
        return "needs a network or MCP servers, which a person's place does not have"
    return ""
