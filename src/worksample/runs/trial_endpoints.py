"""Endpoints that programs in a trial's box can connect to: those of the instance, the model gateway, the browser and
the desktop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from worksample.agents import is_program, observed_by
from worksample.agents.box_endpoints import (
    BROWSER_HOST,
    BROWSER_PORT,
    DESKTOP_HOST,
    DESKTOP_PORT,
    MODEL_HOST,
    MODEL_PORT,
    gateway_model_names,
)
from worksample.background_services import FailureSignal, supervise
from worksample.box import Box, Endpoint
from worksample.records import Agent, EndpointSpec, Environment
from worksample.sandboxes import browser as browsers
from worksample.sandboxes import desktop as desktops
from worksample.sandboxes.browser import Browser, BrowserConfig, BrowserLedger
from worksample.sandboxes.browser.browser_config import DEFAULT
from worksample.sandboxes.browser.chromium import chromium_version
from worksample.sandboxes.cancellation_shield import to_the_end
from worksample.sandboxes.desktop import Desktop
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
from worksample.sandboxes.tool_server import McpServer
from worksample.tasks.workplace_settings import WORKPLACE

from .recorder_base import LedgerRecorder
from .trial_context import TrialContext
from .trial_desktop import open_desktop

if TYPE_CHECKING:
    from worksample.models.gateway import ModelGateway

BROWSER = Endpoint(BROWSER_HOST, BROWSER_PORT)
DESKTOP = Endpoint(DESKTOP_HOST, DESKTOP_PORT)
MODEL = Endpoint(MODEL_HOST, MODEL_PORT)
PROXY = Endpoint("proxy.internal", 3128)
Supervise = Callable[[Awaitable[Any]], Awaitable[Any]]


def has_model(agent: Agent) -> bool:
    """Return whether a model plays the agent. A replayed script has no model."""
    return agent.model is not None and agent.harness != "scripted"


def uses_gateway(agent: Agent) -> bool:
    """Return whether the agent is a program in the box that calls its model through the gateway."""
    return agent.model is not None and is_program(agent.harness)


def endpoints_of(agent: Agent, environment: Environment) -> tuple[Endpoint, ...]:
    """Return the endpoints of a trial's box. The endpoint of the model gateway depends only on the agent, and not on
    the network of the task.
    """
    exact = [Endpoint(one.name, one.port) for one in environment.endpoints if not _wild(one)]
    proxy = [PROXY] if len(exact) < len(environment.endpoints) else []
    served = {"browser": BROWSER, "desktop": DESKTOP}
    tools = [place for name, place in served.items() if shows_by_mcp(name, agent, environment)]
    return (*([MODEL] if uses_gateway(agent) else []), *tools, *exact, *proxy)


def shows_by_mcp(interface: str, agent: Agent, environment: Environment) -> bool:
    """Return whether the agent is a program in the box that uses an interface, such as the browser, through MCP."""
    return interface in environment.interfaces and is_program(agent.harness)


def environment_of(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Return the proxy variables for all commands in a box: the address of the proxy, and the hosts that need no
    proxy.
    """
    if not any(map(_wild, environment.endpoints)):
        return ()
    exact = [one.name for one in environment.endpoints if not _wild(one)]
    direct = ",".join(["localhost", "127.0.0.0/8", MODEL_HOST, BROWSER_HOST, DESKTOP_HOST, *exact])
    return tuple(
        (name, value)
        for key, value in (("HTTPS_PROXY", f"http://{PROXY}"), ("NO_PROXY", direct))
        for name in (key, key.lower())
    )


def _wild(endpoint: EndpointSpec) -> bool:
    return endpoint.name.startswith("*")


def why_unreachable(agent: Agent, environment: Environment, hosts: HostAllowance, *, sandbox: str) -> str:
    """Return why the endpoints that an agent needs for an instance cannot be offered; "" if all can be offered."""
    needed = endpoints_of(agent, environment)
    if (environment.served or environment.workplace) and sandbox == "none":
        return "brings its own services, which need isolation"
    if "browser" in environment.interfaces and sandbox == "none":
        return "needs a browser, which needs isolation"
    if "desktop" in environment.interfaces and sandbox == "none":
        return "needs a desktop, which needs isolation"
    if needed and sandbox == "none":
        return f"needs endpoints ({', '.join(map(str, needed))}), which need isolation"
    reasons = []
    brought = {one.name for one in environment.served} | ({WORKPLACE} if environment.workplace else set())
    for one in environment.endpoints:
        if one.to == "host" and (why := _why_not_host(one, hosts)):
            reasons.append(f"needs the host {one.name}:{one.port}, which {why}")
        elif one.to.startswith("service:") and (name := one.to.split(":")[1]) not in brought:
            reasons.append(f"needs the service {name}")
        elif one.to == "model" and not has_model(agent):
            reasons.append(f"needs a model behind {one.name}:{one.port}, and the agent names none")
    return "; ".join(reasons)


def _why_not_host(endpoint: EndpointSpec, hosts: HostAllowance) -> str:
    """Return why programs in the box cannot connect to the endpoint's host; "" if they can."""
    return (hosts.wildcard_refusal if _wild(endpoint) else hosts.refusal)(endpoint.name, endpoint.port)


def targets_of(
    environment: Environment,
    hosts: HostAllowance,
    gateway: ModelGateway | None,
    services: TrialServices | None = None,
    browser: Browser | None = None,
    desktop: Desktop | None = None,
) -> Mapping[Endpoint, Target]:
    """Return the target of each endpoint. Endpoints without a target refuse connections."""
    targets: dict[Endpoint, Target] = {}
    wild = []
    for one in environment.endpoints:
        place = Endpoint(one.name, one.port)
        if one.to == "host" and not _why_not_host(one, hosts):
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
        targets[BROWSER] = StreamTarget(
            "the agent's browser", McpServer("browser", browsers.ACTIONS, browser.act).serve
        )
    if desktop is not None:
        targets[DESKTOP] = StreamTarget(
            "the agent's desktop", McpServer("desktop", desktops.MCP_TOOLS, desktop.act).serve
        )
    if gateway is not None:
        targets[MODEL] = StreamTarget("the agent's model", gateway.serve)
    return targets


@asynccontextmanager
async def open_endpoints(
    context: TrialContext,
    box: Box | None,
    services: TrialServices | None = None,
    colleagues: FailureSignal | None = None,
) -> AsyncIterator[Supervise]:
    """Serve the endpoints of a trial's box. Yield a function that waits for the agent's work, and that fails early if a
    background service of the trial fails.

    Enter this context inside Inspect's limits of the trial, so that calls through the model gateway count towards these
    limits.
    """
    browser = browser_of(context, box) if box is not None else None
    desktop = await open_desktop(context, box) if box is not None else None
    if box is None or not (box.config.endpoints or browser or desktop):
        yield supervise
        return
    environment, job = context.spec.instance.work.environment, context.spec.job
    gateway = None
    wanted = uses_gateway(job.agent) or any(one.to == "model" for one in environment.endpoints)
    if wanted and has_model(job.agent) and job.model is not None:
        from worksample.models.gateway import ModelGateway
        from worksample.models.gateway.request_reader import warm

        warm()
        gateway = ModelGateway(job.model, gateway_model_names(job.agent.model or ""), context.spec.limits.turns)
    shown = {name: shows_by_mcp(name, job.agent, environment) for name in ("browser", "desktop")}
    targets = targets_of(
        environment, job.config.hosts, gateway, services,
        browser if shown["browser"] else None, desktop if shown["desktop"] else None,
    )  # fmt: skip

    watched = [one.failure for one in (gateway, browser, desktop, services) if one is not None]
    watched += [colleagues] if colleagues is not None else []
    async with serve_endpoints(box, targets) as connections:
        context.record(LedgerRecorder("connections", connections))
        browsers.CURRENT.set(browser)
        desktops.CURRENT.set(desktop)
        try:
            yield lambda work: supervise(work, *watched)
        finally:
            if browser is not None:
                await to_the_end(browser.close())


def browser_of(context: TrialContext, box: Box) -> Browser | None:
    """Return the trial's browser, whose recorder is then registered. Return None if the task has no browser."""
    environment, agent = context.spec.instance.work.environment, context.spec.job.agent
    if environment.browser is None:
        return None
    usual = (*DEFAULT, "screenshot") if "vision" in agent.capabilities else DEFAULT
    config = BrowserConfig(
        observe=observed_by(agent) or environment.browser.observe or usual,
        viewport=(environment.browser.width, environment.browser.height),
        secure=secure_origins(environment),
        accounts=signing_accounts(environment),
    )
    ledger = BrowserLedger(chromium_version())
    context.record(LedgerRecorder("browser", ledger))
    return Browser(box, config, context.spec.job.config.sandbox, ledger)


def signing_accounts(environment: Environment) -> tuple[tuple[str, str, str], ...]:
    """Return (address, name, password) of each account with which the browser signs in before its first action."""
    if environment.browser is None or not environment.browser.signed_in:
        return ()
    return tuple((one.url, one.name, one.password) for one in environment.accounts)


def secure_origins(environment: Environment) -> tuple[str, ...]:
    """Return the web origins of a company's services. The browser treats them as secure, because their pages use
    features that otherwise need TLS.
    """
    return tuple(f"http://{one.name}:{one.port}" for one in environment.endpoints if one.to.startswith("service:"))
