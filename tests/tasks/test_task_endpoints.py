"""Endpoints in task manifests, and tasks that cannot be attempted without them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from worksample.agents import define
from worksample.records import Environment
from worksample.runs.trial_endpoints import MODEL, PROXY, endpoints_of, environment_of, targets_of, why_unreachable
from worksample.sandboxes.endpoints import HostAllowance, read_rule
from worksample.tasks.environment import EnvironmentTable

NONE = HostAllowance()
WORKER = define("w", harness="worker", model="openai/gpt-5")
PROGRAM = define("p", harness="command", model="openai/gpt-5", settings={"argv": ["true"]})
ALONE = define("a", harness="command", settings={"argv": ["true"]})


def table(*endpoints: dict[str, Any], network: str = "endpoints", services: tuple[str, ...] = ()) -> Environment:
    given = {"network": network, "endpoint": endpoints, "services": services}
    return EnvironmentTable.model_validate(given).record()


@pytest.mark.parametrize(
    "endpoint",
    [
        {"name": "10.0.0.1", "to": "host"},
        {"name": "2130706433", "to": "host"},
        {"name": "[::1]", "to": "host"},
        {"name": "**", "to": "host"},
        {"name": "*", "to": "model"},
        {"name": "*.com", "to": "host"},
        {"name": "*.example.com", "to": "model"},
        {"name": "model.internal", "to": "host"},
        {"name": "API.example.com", "to": "host"},
        {"name": "localhost", "to": "host"},
        {"name": "a.example", "port": 0, "to": "host"},
        {"name": "a.example", "port": "443", "to": "host"},
        {"name": "a.example", "to": "anything"},
        {"name": "a.example"},
        {"name": "a.example", "to": "host", "more": 1},
    ],
)
def test_invalid_endpoints_are_faults(endpoint: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        table(endpoint)


def test_network_and_endpoints_belong_together() -> None:
    one = {"name": "a.example", "to": "host"}
    for endpoints, network in (((), "endpoints"), ((one,), "none"), ((one, one), "endpoints")):
        with pytest.raises(ValidationError):
            table(*endpoints, network=network)
    assert "endpoints" not in EnvironmentTable().record().plain()


def test_unreachable_hosts_are_named_once_and_stably() -> None:
    environment = table(
        {"name": "pypi.org", "to": "host"},
        {"name": "*.example.com", "to": "host"},
        {"name": "shop.example", "port": 80, "to": "service:shop"},
        {"name": "help.example", "port": 80, "to": "model"},
        services=("shop",),
    )
    said = why_unreachable(ALONE, environment, NONE, sandbox="bubblewrap")
    assert said == (
        "needs the host pypi.org:443, which is not allowed; needs the host *.example.com:443, which is not allowed; "
        "needs the service shop; needs a model behind help.example:80, and the agent names none"
    )
    rules = HostAllowance((read_rule("pypi.org"), read_rule("*.example.com")))
    assert why_unreachable(WORKER, environment, rules, sandbox="bubblewrap") == "needs the service shop"
    assert "need isolation" in why_unreachable(WORKER, environment, rules, sandbox="none")
    assert why_unreachable(WORKER, Environment(), NONE, sandbox="none") == ""
    assert "model.internal:80" in why_unreachable(PROGRAM, Environment(), NONE, sandbox="none")


@pytest.mark.parametrize("allowed", ["evil.example.com", "*.evil.example.com", "*.example.com:80", "example.com"])
def test_wildcard_needs_a_rule_that_allows_all_of_it(allowed: str) -> None:
    environment = table({"name": "*.example.com", "to": "host"})
    assert why_unreachable(WORKER, environment, HostAllowance((read_rule(allowed),)), sandbox="bubblewrap")


def test_box_gets_endpoints_of_task_and_agent() -> None:
    assert endpoints_of(WORKER, Environment()) == ()
    assert endpoints_of(ALONE, Environment()) == ()
    assert endpoints_of(PROGRAM, Environment()) == (MODEL,)
    environment = table({"name": "pypi.org", "to": "host"}, {"name": "*.example.com", "to": "host"})
    endpoints = endpoints_of(PROGRAM, environment)
    assert list(map(str, endpoints)) == [str(MODEL), "pypi.org:443", str(PROXY)]
    told = dict(environment_of(environment))
    assert told["https_proxy"] == "http://proxy.internal:3128"
    assert "pypi.org" in told["NO_PROXY"]
    assert environment_of(Environment()) == ()
    targets = targets_of(environment, HostAllowance((read_rule("pypi.org"), read_rule("*.example.com"))), None)
    assert {str(place): target.rule for place, target in targets.items()} == {
        "pypi.org:443": "allow pypi.org:443",
        "proxy.internal:3128": "proxy for *.example.com:443",
    }
