"""Which agents and people can work on which instances, and why not."""

from __future__ import annotations

from collections.abc import Iterator

from worksample.agents import takes_browser, takes_mcp, takes_sse, works_in_images
from worksample.agents.agent_definition import HUMAN
from worksample.records import (
    Agent,
    Arm,
    Environment,
    Instance,
    Worker,
)
from worksample.sandboxes import browser
from worksample.workplace import service_programs

NETWORKS = ("none", "endpoints", "workplace")
INTERFACES = ("terminal", "browser")


def why_incompatible(agent: Agent, instance: Instance, lacking: frozenset[str] = frozenset()) -> str:
    """Why the agent cannot work on the instance, or "" where it can."""
    environment = instance.work.environment
    reasons = []
    missing = sorted(set(environment.requires) - set(agent.capabilities)) if agent.harness != HUMAN else []
    if missing:
        reasons.append(f"requires {', '.join(missing)}, which the agent does not declare")
    if environment.network not in NETWORKS:
        reasons.append(f"needs network {environment.network!r}, which no sandbox gives")
    interfaces = sorted(set(environment.interfaces) - set(INTERFACES))
    if interfaces:
        reasons.append(f"needs the interface {', '.join(interfaces)}")
    if "browser" in environment.interfaces:
        reasons += _why_no_browser(agent, environment)
    if environment.workplace is None and environment.services:
        reasons.append(f"needs services: {', '.join(environment.services)}")
    elif environment.workplace is not None and (line := service_programs.lacking(environment.services)):
        reasons.append(f"needs programs of a workplace, which this machine has not (type: {line})")
    if environment.image is not None and not works_in_images(agent):
        reasons.append("has an image, in which the agent's program may lack what it was installed without")
    if environment.mcp and not takes_mcp(agent):
        reasons.append(f"brings MCP servers, which the harness {agent.harness} does not take")
    elif any(one.sse for one in environment.mcp) and not takes_sse(agent):
        reasons.append(f"brings an MCP server over SSE, which the harness {agent.harness} does not speak")
    absent = [command for command in required_commands(environment) if command in lacking]
    if absent:
        reasons.append(f"the sandbox of this machine lacks {', '.join(absent)}")
    return "; ".join(reasons)


def _why_no_browser(agent: Agent, environment: Environment) -> Iterator[str]:
    if line := browser.lacking():
        yield f"needs a browser, which this machine has not (type: {line})"
    if environment.image is not None:
        yield "needs a browser, which is of this machine's programs, in an image, which has its own"
    if not takes_browser(agent):
        yield f"needs a browser, which the harness {agent.harness} is given none of"


def required_commands(environment: Environment) -> tuple[str, ...]:
    """Commands that this machine's sandbox must have: those of places without an image of their own."""
    own = environment.software if environment.image is None else ()
    theirs = (command for one in environment.served if one.image is None for command in one.software)
    return tuple(dict.fromkeys((*own, *theirs)))


def works_under(agent: Agent, arm: Arm) -> bool:
    """Whether the agent is one of those who work under the arm: people work in arms of their own."""
    return (agent.harness == HUMAN) == (arm.worker is Worker.HUMAN)


def why_no_person(arm: Arm, instance: Instance) -> str:
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
