"""Features that a person's workstation lacks are named in the plan, slot by slot; agents have them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.material import an_instance, some_material
from worksample.agents.agent_definition import HUMAN
from worksample.experiments.planning.experiment_plan import plan
from worksample.records import Agent, Arm, EndpointSpec, McpSpec, ServiceSpec, Worker, now

SERVED = (ServiceSpec(name="db", box="db", argv=("serve",), ports=(5432,)),)
NEEDS: list[tuple[dict[str, Any], str]] = [
    ({"served": SERVED}, "needs services, which a workstation does not have"),
    ({"interfaces": ("terminal", "browser")}, "needs a browser that is recorded, which a workstation does not have"),
    (
        {"network": "endpoints", "endpoints": (EndpointSpec(name="api.example", port=80, to="host"),)},
        "needs a network or MCP servers, which a workstation does not have",
    ),
    (
        {"mcp": (McpSpec(name="tools", argv=("tools",)),)},
        "needs a network or MCP servers, which a workstation does not have",
    ),
]


@pytest.mark.parametrize(("environment", "why"), NEEDS)
def test_person_is_told_which_features_are_missing(environment: dict[str, Any], why: str) -> None:
    instances = (an_instance("plain", "case"), an_instance("more", "case", **environment))
    arms = (Arm(name="by-hand", worker=Worker.HUMAN), Arm(name="together", worker=Worker.ASSISTED), Arm(name="alone"))
    agents = (Agent.of("agent", "scripted", settings={"script": {"step": []}}), Agent.of("human", HUMAN))
    material = replace(some_material(repeats=1), instances=instances, arms=arms, agents=agents)
    made = plan(material, author="t", at=now(), versions={}, settings={})
    said = {(s.arm, s.instance.partition("/")[0]): s.not_attemptable for s in made.slots}
    assert {key: why for key, why in said.items() if key[0] == "by-hand" or key[0] == "together"} == {
        ("by-hand", "plain"): "", ("by-hand", "more"): why, ("together", "plain"): "", ("together", "more"): why,
    }  # fmt: skip
    assert why not in said["alone", "more"]
