"""Compatibility of agents and people with instances: the reasons why a slot cannot be attempted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from worksample.agents import takes_interfaces, takes_mcp, takes_sse, works_in_images
from worksample.agents.agent_definition import HUMAN
from worksample.records import (
    Agent,
    Arm,
    Environment,
    Instance,
    Worker,
)
from worksample.sandboxes import browser, desktop
from worksample.sudo_command import root_command
from worksample.workplace import service_programs

NETWORKS = ("none", "endpoints", "workplace")
INTERFACES = ("terminal", "browser", "desktop")
_EARLIER_WORDS = (
    ("which no sandbox provides", "which no sandbox gives"),
    (
        "needs programs of a workplace, which are not installed",
        "needs programs of a workplace, which this machine has not",
    ),
    ("may lack libraries", "may lack what it was installed without"),
    ("needs a browser, which is not installed", "needs a browser, which this machine has not"),
    (
        "needs a browser, which image-based tasks do not support",
        "needs a browser, which is of this machine's programs, in an image, which has its own",
    ),
    (r"needs a browser, which the harness (\S+) cannot use", r"needs a browser, which the harness \1 is given none of"),
    (
        r"brings MCP servers, which the harness (\S+) does not support",
        r"brings MCP servers, which the harness \1 does not take",
    ),
    (
        r"brings an MCP server over SSE, which the harness (\S+) does not support",
        r"brings an MCP server over SSE, which the harness \1 does not speak",
    ),
    ("which a workstation does not have", "which a person's place does not have"),
    (
        "has several steps, which a workstation does not support",
        "has steps that are told one after the other, which a person's place does not do",
    ),
    (
        "brings its own services, which need isolation",
        "needs services of its own, which there are none of without isolation",
    ),
    ("needs a browser, which needs isolation", "needs a browser, which there is none of without isolation"),
    (r"(needs endpoints \(.*?\)), which need isolation", r"\1, which there are none of without isolation"),
)
"""Pairs of a pattern for a present reason and the wording that stores of version 0.1 have for the same reason."""


def reason_identity(reason: str) -> str:
    """Return a reason in the wording of version 0.1, which is part of an experiment's id and must not change."""
    reason = _HOW_TO_INSTALL.sub(_earlier_command, reason)
    for now, earlier in _EARLIER_WORDS:
        reason = re.sub(now, earlier, reason)
    return reason


_HOW_TO_INSTALL = re.compile(
    r"(needs programs of a (workplace)|needs a (browser))([^(]*)\((?:[^();]*; )?type: ([^()]*)\)"
)


def _earlier_command(found: re.Match[str]) -> str:
    """Return what is missing with the command of version 0.1: today's command depends on how this copy was installed,
    and names the programs that the machine lacks.
    """
    extra = found[2] or found[3]
    lines = found[5].split(" && ")
    own = (
        line if re.match(r"worksample |(sudo |su -c .)?apt-get ", line) else f"pip install 'worksample[{extra}]'"
        for line in lines
    )
    return f"{found[1]}{found[4]}(type: {' && '.join(own)})"


def why_incompatible(agent: Agent, instance: Instance, lacking: frozenset[str] = frozenset()) -> str:
    """Return the reasons why the agent cannot work on the instance; "" if the agent can."""
    environment = instance.work.environment
    reasons = []
    missing = sorted(set(environment.requires) - set(agent.capabilities)) if agent.harness != HUMAN else []
    if missing:
        reasons.append(f"requires {', '.join(missing)}, which the agent does not declare")
    if environment.network not in NETWORKS:
        reasons.append(f"needs network {environment.network!r}, which no sandbox provides")
    reasons += missing_machine(environment)
    interfaces = sorted(set(environment.interfaces) - set(INTERFACES))
    if interfaces:
        reasons.append(f"needs the interface {', '.join(interfaces)}")
    if "browser" in environment.interfaces:
        reasons += _why_no_browser(agent, environment)
    if "desktop" in environment.interfaces:
        reasons += _why_no_desktop(agent, environment)
    if environment.workplace is None and environment.services:
        reasons.append(f"needs services: {', '.join(environment.services)}")
    elif environment.workplace is not None and (
        line := service_programs.missing_programs_command(environment.services)
    ):
        names = ", ".join(service_programs.missing_programs(environment.services))
        reasons.append(f"needs programs of a workplace, which are not installed ({names}; type: {line})")
    if environment.image is not None and not works_in_images(agent):
        reasons.append("has an image, in which the agent's program may lack libraries")
    if environment.mcp and not takes_mcp(agent):
        reasons.append(f"brings MCP servers, which the harness {agent.harness} does not support")
    elif any(one.sse for one in environment.mcp) and not takes_sse(agent):
        reasons.append(f"brings an MCP server over SSE, which the harness {agent.harness} does not support")
    absent = [command for command in required_commands(environment) if command in lacking]
    if absent:
        reasons.append(f"the sandbox of this machine lacks {', '.join(absent)}")
    return "; ".join(reasons)


def missing_machine(environment: Environment) -> list[str]:
    """Return the reasons why this machine cannot run the environment.

    A reason names what is needed and not what the machine has, so that it is the same on all machines that lack it.
    """
    reasons = []
    if environment.os != "linux":
        reasons.append(f"needs the operating system {environment.os}, which no sandbox provides")
    if environment.cores > (os.cpu_count() or 1):
        reasons.append(f"needs {environment.cores} processors, which this machine does not have")
    if environment.memory > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        reasons.append(f"needs {environment.memory / (1 << 30):g} GiB of memory, which this machine does not have")
    if environment.gpu:
        reasons.append(f"needs a graphics processor ({environment.gpu}), which no sandbox provides")
    return reasons


def _why_no_browser(agent: Agent, environment: Environment) -> Iterator[str]:
    if line := browser.missing_browser_command():
        yield f"needs a browser, which is not installed (type: {line})"
    if environment.image is not None:
        yield "needs a browser, which image-based tasks do not support"
    if not takes_interfaces(agent):
        yield f"needs a browser, which the harness {agent.harness} cannot use"


def _why_no_desktop(agent: Agent, environment: Environment) -> Iterator[str]:
    if line := desktop.missing_desktop_command():
        yield f"needs a desktop, which is not installed (type: {line})"
    if not takes_interfaces(agent):
        yield f"needs a desktop, which the harness {agent.harness} cannot use"
    locale = environment.desktop.locale if environment.desktop is not None else ""
    if locale and environment.image is None and not desktop.has_locale(locale):
        line = root_command("apt-get install -y locales-all")
        yield f"needs the locale {locale}, which this machine lacks (type: {line})"


def required_commands(environment: Environment) -> tuple[str, ...]:
    """Return the commands that this machine must provide for the environment. Only boxes without an image use these
    commands.
    """
    own = environment.software if environment.image is None else ()
    theirs = (command for one in environment.served if one.image is None for command in one.software)
    return tuple(dict.fromkeys((*own, *theirs)))


def works_under(agent: Agent, arm: Arm) -> bool:
    """Return whether the agent works in the arm. Arms in which only people work have no agents."""
    return (agent.harness == HUMAN) == (arm.worker is Worker.HUMAN)


def why_no_person(arm: Arm, instance: Instance) -> str:
    """Return the reasons why a person cannot work on the instance in this arm; "" if a person can."""
    environment = instance.work.environment
    if arm.worker is Worker.AGENT:
        return ""
    if environment.served or environment.workplace is not None or environment.services:
        return "needs services, which a workstation does not have"
    if "browser" in environment.interfaces:
        return "needs a browser that is recorded, which a workstation does not have"
    if environment.start is not None:
        return "has a program that prepares the box, which a workstation does not run"
    if "desktop" in environment.interfaces:
        return "needs a desktop, which a workstation does not have"
    if environment.steps:
        return "has several steps, which a workstation does not support"
    if environment.endpoints or environment.mcp:
        return "needs a network or MCP servers, which a workstation does not have"
    return ""
