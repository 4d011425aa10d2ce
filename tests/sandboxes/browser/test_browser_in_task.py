"""`interfaces = ["terminal", "browser"]` in a task: its stored form, and the agents that can attempt it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from experiments.material import an_instance
from worksample.agents.scripted_agent import find_element
from worksample.box import Endpoint
from worksample.experiments.planning.agent_compatibility import why_incompatible
from worksample.records import Agent, Environment
from worksample.runs.trial_endpoints import endpoints_of, secure_origins, why_unreachable
from worksample.sandboxes import browser
from worksample.tasks.environment import EnvironmentTable


def table(**environment: Any) -> Environment:
    return EnvironmentTable.model_validate(environment).record()


def test_browser_adds_memory_and_is_omitted_if_absent() -> None:
    given = table(interfaces=["terminal", "browser"])
    assert given.limits.memory == 4 << 30 and given.limits.processes == 512 and given.browser is not None
    assert table(interfaces=["terminal", "browser"], limits={"memory": 1 << 30}).limits.memory == 1 << 30
    assert "browser" not in table().plain() and table().limits.memory == 2 << 30
    for wrong in ({"browser": {}}, {"interfaces": ["browser"], "browser": {"observe": ["smell"]}}):
        with pytest.raises(ValidationError):
            table(**wrong)


@pytest.mark.parametrize(("harness", "can"), [("scripted", True), ("command", True), ("object", False)])
def test_agents_with_a_browser_are_attemptable(harness: str, can: bool) -> None:
    settings: dict[str, Any] = {"command": {"argv": ["x"]}, "object": {"object": "a:b"}}.get(harness, {})
    agent = Agent.of("a", harness, settings=settings)
    instance = an_instance("t", "c", interfaces=("terminal", "browser"))
    assert ("cannot use" not in why_incompatible(agent, instance)) is can
    address = Endpoint("browser.internal", 80)
    assert (address in endpoints_of(agent, instance.work.environment)) is (harness == "command")


def test_missing_programs_are_named() -> None:
    instance = an_instance("t", "c", interfaces=("terminal", "browser"))
    line = browser.missing_browser_command()
    assert why_incompatible(Agent.of("a", "scripted"), instance) == (
        f"needs a browser, which is not installed (type: {line})" if line else ""
    )
    assert "browser" in why_unreachable(Agent.of("a", "scripted"), instance.work.environment, None, sandbox="none")  # type: ignore[arg-type]


def test_company_services_are_secure_origins() -> None:
    assert "http://chat:3000" in secure_origins(table(network="workplace", company="company", services=["chat"]))


def test_script_names_elements_by_their_description() -> None:
    page = "T - http://a\n[1] heading 'H'\n\t[a2] button 'Save', focused\n"
    assert find_element(page, "button 'Save'") == "a2" and find_element(page, "button 'No'") == "button 'No'"
