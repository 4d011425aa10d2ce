"""The task prompt is true for its task: folders, grading, network, colleagues."""

from __future__ import annotations

from experiments.material import an_instance
from worksample.agents.harness_settings import WorkerSettings
from worksample.agents.prompt import NUDGE, system_text
from worksample.agents.tools import toolset
from worksample.agents.workspace import Workspace
from worksample.records import EndpointSpec, SourceFiles
from worksample.records.task import WorkplaceSource

NO_FILES = SourceFiles(name="company", files="0" * 64)


def test_prompt_without_network_says_so_and_that_only_output_is_graded() -> None:
    workspace = Workspace(an_instance("t", "c"))
    text = system_text(workspace, WorkerSettings())
    assert "There is no internet access." in text
    assert "only files in that folder are graded" in text
    assert "Colleagues" not in text
    assert "There is no internet access." in toolset(workspace, ["bash"])[0].description  # type: ignore[operator]
    assert "{output}" in NUDGE


def test_prompt_in_a_company_names_addresses_colleagues_and_grading() -> None:
    endpoints = (EndpointSpec(name="chat", port=3000, to="service:workplace:3000"),)
    company = {"services": ("chat",), "workplace": WorkplaceSource(company=NO_FILES), "endpoints": endpoints}
    instance = an_instance("t", "c", network="workplace", **company)  # type: ignore[arg-type]
    instance = instance.replaced(capture=instance.capture.replaced(exports=("chat",)))
    text = system_text(Workspace(instance), WorkerSettings())
    assert "only these addresses can be reached: chat:3000" in text and "no internet" not in text
    assert "Colleagues may answer in the company's chat." in text
    assert "your changes in the services of the task may be" in text
