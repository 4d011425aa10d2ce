"""The browser of a trial whose task has one."""

from __future__ import annotations

from worksample.agents import observed_by
from worksample.box import Box
from worksample.records import Environment
from worksample.sandboxes.browser import Browser, BrowserConfig, BrowserLedger
from worksample.sandboxes.browser.browser_config import DEFAULT
from worksample.sandboxes.browser.chromium import chromium_version

from .tries import TrialContext


def browser_of(try_: TrialContext, box: Box) -> Browser | None:
    """What drives the trial's browser; None where the task gives none."""
    environment, agent = try_.instance.work.environment, try_.job.agent
    if environment.browser is None:
        return None
    usual = (*DEFAULT, "screenshot") if "vision" in agent.capabilities else DEFAULT
    config = BrowserConfig(
        observe=observed_by(agent) or environment.browser.observe or usual,
        viewport=(environment.browser.width, environment.browser.height),
        secure=secure_origins(environment),
    )
    try_.browsed = BrowserLedger(chromium_version())
    return Browser(box, config, try_.job.config.sandbox, try_.browsed)


def secure_origins(environment: Environment) -> tuple[str, ...]:
    """Services of a company, whose pages want what browsers give to pages with TLS alone."""
    return tuple(f"http://{one.name}:{one.port}" for one in environment.endpoints if one.to.startswith("service:"))
