"""What a trial's box can reach: the endpoints of its instance, and the gateway to its agent's model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from worksample.agents import is_program
from worksample.agents.browser_tools import BROWSER_HOST, BROWSER_PORT
from worksample.agents.model_address import MODEL_HOST, MODEL_PORT, gateway_model_names
from worksample.box import Box, Endpoint
from worksample.records import Agent, EndpointSpec, Environment
from worksample.sandboxes.browser import CURRENT, Browser
from worksample.sandboxes.browser.mcp_server import McpServer
from worksample.sandboxes.endpoints import (
    AllowedHost,
    ConnectProxy,
    HostAllowance,
    HostRule,
    StreamTarget,
    Target,
    serve_endpoints,
)
from worksample.sandboxes.services import TrialServices
from worksample.sandboxes.shielded import to_the_end
from worksample.supervision import supervise
from worksample.tasks.workplace import WORKPLACE

from .browsing import browser_of
from .tries import TrialContext

if TYPE_CHECKING:
    from worksample.models.gateway import ModelGateway

BROWSER = Endpoint(BROWSER_HOST, BROWSER_PORT)
MODEL = Endpoint(MODEL_HOST, MODEL_PORT)
PROXY = Endpoint("proxy.internal", 3128)
During = Callable[[Awaitable[Any]], Awaitable[Any]]


def has_model(agent: Agent) -> bool:
    """Whether a model answers for the agent; a script that is replayed is none."""
    return agent.model is not None and agent.harness != "scripted"


def calls_gateway(agent: Agent) -> bool:
    """Whether the agent is a program in the box that is given a model."""
    return agent.model is not None and is_program(agent.harness)


def endpoints_of(agent: Agent, environment: Environment) -> tuple[Endpoint, ...]:
    """Those that a box needs. The gateway to its own model is the agent's, whatever network the task has."""
    exact = [Endpoint(one.name, one.port) for one in environment.endpoints if not _wild(one)]
    proxy = [PROXY] if len(exact) < len(environment.endpoints) else []
    tools = [BROWSER] if shows_browser(agent, environment) else []
    return (*([MODEL] if calls_gateway(agent) else []), *tools, *exact, *proxy)


def shows_browser(agent: Agent, environment: Environment) -> bool:
    """Whether the agent is a program in the box that is given a browser, by MCP."""
    return "browser" in environment.interfaces and is_program(agent.harness)


def environment_of(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Variables for every command of a box: where the proxy is, and what is reached without it."""
    if not any(map(_wild, environment.endpoints)):
        return ()
    exact = [one.name for one in environment.endpoints if not _wild(one)]
    direct = ",".join(["localhost", "127.0.0.0/8", MODEL_HOST, BROWSER_HOST, *exact])
    return tuple(
        (name, value)
        for key, value in (("HTTPS_PROXY", f"http://{PROXY}"), ("NO_PROXY", direct))
        for name in (key, key.lower())
    )


def _wild(endpoint: EndpointSpec) -> bool:
    return endpoint.name.startswith("*")


def unreachable(agent: Agent, environment: Environment, hosts: HostAllowance, *, sandbox: str) -> str:
    """Why the endpoints that an agent needs at an instance cannot be served, or ""."""
    needed = endpoints_of(agent, environment)
    if (environment.served or environment.workplace) and sandbox == "none":
        return "needs services of its own, which there are none of without isolation"
    if "browser" in environment.interfaces and sandbox == "none":
        return "needs a browser, which there is none of without isolation"
    if needed and sandbox == "none":
        return f"needs endpoints ({', '.join(map(str, needed))}), which there are none of without isolation"
    reasons = []
    brought = {one.name for one in environment.served} | ({WORKPLACE} if environment.workplace else set())
    for one in environment.endpoints:
        if one.to == "host" and (why := _why_not(one, hosts)):
            reasons.append(f"needs the host {one.name}:{one.port}, which {why}")
        elif one.to.startswith("service:") and (name := one.to.split(":")[1]) not in brought:
            reasons.append(f"needs the service {name}")
        elif one.to == "model" and not has_model(agent):
            reasons.append(f"needs a model behind {one.name}:{one.port}, and the agent names none")
    return "; ".join(reasons)


def _why_not(endpoint: EndpointSpec, hosts: HostAllowance) -> str:
    """Why the host of an endpoint cannot be reached, or ""."""
    return (hosts.wildcard_refusal if _wild(endpoint) else hosts.refusal)(endpoint.name, endpoint.port)


def targets_of(
    environment: Environment,
    hosts: HostAllowance,
    gateway: ModelGateway | None,
    services: TrialServices | None = None,
    browser: Browser | None = None,
) -> Mapping[Endpoint, Target]:
    """What answers at each endpoint; those that are left out refuse."""
    targets: dict[Endpoint, Target] = {}
    wild = []
    for one in environment.endpoints:
        place = Endpoint(one.name, one.port)
        if one.to == "host" and not _why_not(one, hosts):
            if _wild(one):
                wild.append(HostRule(one.name, one.port))
            else:
                targets[place] = AllowedHost(HostRule(one.name, one.port))
        elif one.to == "model" and gateway is not None:
            targets[place] = StreamTarget("the agent's model", gateway.serve)
        elif one.to.startswith("service:") and services is not None:
            targets[place] = services.target(one.to)
    if wild:
        targets[PROXY] = ConnectProxy(tuple(wild), hosts)
    if browser is not None:
        targets[BROWSER] = StreamTarget("the agent's browser", McpServer(browser).serve)
    if gateway is not None:
        targets[MODEL] = StreamTarget("the agent's model", gateway.serve)
    return targets


@asynccontextmanager
async def reaching(try_: TrialContext, box: Box | None) -> AsyncIterator[During]:
    """Serve the endpoints of a trial's box; what is yielded lets work go on until it, or the gateway, is done.

    Must be entered where Inspect's limits of the trial hold: the gateway's calls count against them.
    """
    browser = browser_of(try_, box) if box is not None else None
    if box is None or not (box.config.endpoints or browser):
        yield supervise
        return
    environment, job = try_.instance.work.environment, try_.job
    gateway = None
    wanted = calls_gateway(job.agent) or any(one.to == "model" for one in environment.endpoints)
    if wanted and has_model(job.agent) and job.model is not None:
        from worksample.models.gateway import ModelGateway
        from worksample.models.gateway.request_reader import warm

        warm()
        gateway = ModelGateway(job.model, gateway_model_names(job.agent.model or ""), try_.limits.turns)
    services = try_.services
    targets = targets_of(
        environment, job.config.hosts, gateway, services, browser if shows_browser(job.agent, environment) else None
    )

    watched = [one.failure for one in (try_.attending, gateway, browser, services) if one is not None]
    async with serve_endpoints(box, targets) as try_.connections:
        CURRENT.set(browser)
        try:
            yield lambda work: supervise(work, *watched)
        finally:
            if browser is not None:
                await to_the_end(browser.close())
