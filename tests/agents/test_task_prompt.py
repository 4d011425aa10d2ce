"""The task prompt is true for its task: folders, grading, network, colleagues, limits, steps."""

from __future__ import annotations

from experiments.material import an_instance
from worksample.agents import define
from worksample.agents.harness_settings import WorkerSettings
from worksample.agents.prompt import NUDGE, system_text
from worksample.agents.tools import toolset
from worksample.agents.workspace import Workspace
from worksample.records import EndpointSpec, Limits, SourceFiles
from worksample.records.task import WorkplaceSource

NO_FILES = SourceFiles(name="company", files="0" * 64)


def test_prompt_without_network_says_so_and_that_only_output_is_handed_in() -> None:
    workspace = Workspace(an_instance("t", "c"))
    text = system_text(workspace, WorkerSettings())
    assert "There is no internet access." in text
    assert "only files in that folder are handed in" in text
    assert "olleagues" not in text
    assert "There is no internet access." in toolset(workspace, ["bash"])[0].description  # type: ignore[operator]
    assert "{" not in NUDGE


def test_prompt_in_a_company_names_addresses_colleagues_and_grading() -> None:
    endpoints = (EndpointSpec(name="chat", port=3000, to="service:workplace:3000"),)
    company = {"services": ("chat",), "workplace": WorkplaceSource(company=NO_FILES), "endpoints": endpoints}
    instance = an_instance("t", "c", network="workplace", **company)  # type: ignore[arg-type]
    instance = instance.replaced(capture=instance.capture.replaced(exports=("chat",)))
    text = system_text(Workspace(instance), WorkerSettings())
    assert "only these addresses can be reached: chat:3000" in text and "no internet" not in text
    assert "- chat: http://chat:3000" in text
    assert "colleagues may answer in the company's chat" in text
    assert "Questions in this conversation are not answered" not in text
    assert "alone" not in text and "only files" not in text
    assert "their state is recorded" in text


def test_part_left_out_of_the_prompt_makes_another_agent_and_limits_are_told_if_set() -> None:
    workspace = Workspace(an_instance("t", "c"), Limits(time=3600, cost=30, turns=100))
    without = WorkerSettings(prompt=("role", "folders"))
    assert "no internet" not in system_text(workspace, without)
    told = system_text(workspace, WorkerSettings(tell_limits=True))
    assert "1h 00m of time, $30 of model cost, 100 steps" in told
    plain = define(harness="worker", model="a/b")
    assert define(harness="worker", model="a/b", settings={"prompt": ["role", "folders"]}).id != plain.id
    assert "prompt" not in plain.settings and "tell_limits" not in plain.settings


def test_step_of_a_task_is_not_told_that_nothing_can_be_changed_afterwards() -> None:
    text = system_text(Workspace(an_instance("t", "c"), in_steps=True), WorkerSettings())
    assert "It ends this step of the work." in text and "Nothing can be changed" not in text
