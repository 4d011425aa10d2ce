"""Endpoints of a trial's box follow from its instance, agent and the operator's allowance, before it starts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runs.material import player
from worksample.agents import define
from worksample.agents.box_endpoints import BROWSER_HOST, DESKTOP_HOST, MODEL_HOST
from worksample.box import Endpoint
from worksample.records import Agent, EndpointSpec, Environment, ServiceSpec
from worksample.runs.trial_context import TrialContext
from worksample.runs.trial_endpoints import (
    MODEL,
    PROXY,
    endpoints_of,
    environment_of,
    has_model,
    open_endpoints,
    targets_of,
    uses_gateway,
    why_unreachable,
)
from worksample.sandboxes.endpoints import AllowedHost, ConnectProxy, HostAllowance, HostRule, StreamTarget

SCRIPT = player("script")
WORKER = define("worker", harness="worker", model="mockllm/model")
PROGRAM = define("program", harness="command", model="mockllm/model", settings={"argv": ["true"]})
ALONE = define("alone", harness="command", settings={"argv": ["true"]})


def spec(name: str, to: str, port: int = 443) -> EndpointSpec:
    return EndpointSpec(name=name, port=port, to=to)


def needing(*endpoints: EndpointSpec, **more: Any) -> Environment:
    return Environment(network="endpoints", endpoints=endpoints, **more)


GATEWAY = Endpoint(MODEL_HOST, MODEL.port)
API, WILD = spec("api.example.com", "host"), spec("*.example.com", "host", 8443)
OPEN = HostAllowance(operator=(HostRule("api.example.com"), HostRule("*.example.com", 8443)))


@pytest.mark.parametrize(
    ("agent", "model", "gateway"),
    [(SCRIPT, False, False), (WORKER, True, False), (PROGRAM, True, True), (ALONE, False, False)],
)
def test_only_a_program_with_a_model_has_a_gateway(agent: Agent, model: bool, gateway: bool) -> None:
    assert (has_model(agent), uses_gateway(agent)) == (model, gateway)
    assert endpoints_of(agent, Environment()) == ((GATEWAY,) if gateway else ())


def test_names_are_endpoints_and_wildcards_are_one_proxy() -> None:
    assert endpoints_of(WORKER, needing(API)) == (Endpoint("api.example.com", 443),)
    both = needing(API, WILD, spec("*.example.org", "host"))
    assert endpoints_of(PROGRAM, both) == (GATEWAY, Endpoint("api.example.com", 443), PROXY)
    assert environment_of(needing(API)) == ()
    told = dict(environment_of(both))
    assert told.keys() == {"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}
    assert told["https_proxy"] == told["HTTPS_PROXY"] == f"http://{PROXY}"
    assert told["NO_PROXY"].split(",") == [
        "localhost",
        "127.0.0.0/8",
        MODEL_HOST,
        BROWSER_HOST,
        DESKTOP_HOST,
        "api.example.com",
    ]


SERVED = ServiceSpec(name="shop", box="shop", argv=("true",), ports=(80,))


@pytest.mark.parametrize(
    ("agent", "environment", "sandbox", "why"),
    [
        (WORKER, needing(API, WILD), "bubblewrap", ""),
        (WORKER, needing(spec("api.example.org", "host")), "bubblewrap", "api.example.org:443, which is not allowed"),
        (WORKER, needing(spec("*.example.org", "host")), "bubblewrap", "*.example.org:443, which is not allowed"),
        (WORKER, needing(API), "none", "needs endpoints (api.example.com:443), which need isolation"),
        (PROGRAM, Environment(), "none", "which need isolation"),
        (WORKER, Environment(served=(SERVED,)), "none", "its own services, which need isolation"),
        (WORKER, Environment(served=(SERVED,)), "bubblewrap", ""),
        (WORKER, Environment(), "none", ""),
        (WORKER, needing(spec("shop.internal", "service:shop:80"), served=(SERVED,)), "bubblewrap", ""),
        (WORKER, needing(spec("desk.internal", "service:desk")), "bubblewrap", "needs the service desk"),
        (WORKER, needing(spec("llm.internal", "model")), "bubblewrap", ""),
        (SCRIPT, needing(spec("llm.internal", "model")), "bubblewrap", "a model behind llm.internal:443"),
    ],
)
def test_unservable_endpoints_are_reported_before_the_run(
    agent: Agent, environment: Environment, sandbox: str, why: str
) -> None:
    said = why_unreachable(agent, environment, OPEN, sandbox=sandbox)
    assert why in said if why else not said


def test_every_endpoint_has_its_target_and_others_refuse() -> None:
    gateway, services = SimpleNamespace(serve="gateway"), SimpleNamespace(target=lambda to: f"target of {to}")
    environment = needing(
        API, WILD, spec("b.example.org", "host"), spec("*.example.org", "host"), spec("llm.internal", "model"),
        spec("shop.internal", "service:shop"),
    )  # fmt: skip
    found = targets_of(environment, OPEN, cast("Any", gateway), cast("Any", services))
    assert found[Endpoint("api.example.com", 443)] == AllowedHost(HostRule("api.example.com"))
    assert found[Endpoint("shop.internal", 443)] == "target of service:shop"
    assert isinstance(found[MODEL], StreamTarget)
    assert isinstance(found[Endpoint("llm.internal", 443)], StreamTarget)
    proxy = found[PROXY]
    assert isinstance(proxy, ConnectProxy)
    assert proxy.rules == (HostRule("*.example.com", 8443),)
    assert len(found) == 5
    assert targets_of(environment, HostAllowance(), None) == {}


async def test_box_without_endpoints_runs_alone(tmp_path: Path) -> None:
    box = SimpleNamespace(config=SimpleNamespace(endpoints=()))
    work = SimpleNamespace(environment=Environment())
    spec = SimpleNamespace(instance=SimpleNamespace(work=work), job=SimpleNamespace(agent=None))
    context = SimpleNamespace(spec=spec)
    for one in (None, cast("Any", box)):
        async with open_endpoints(cast("TrialContext", context), one) as supervise:
            assert await supervise(asyncio.sleep(0, "done")) == "done"
