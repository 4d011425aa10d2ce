"""Prompts of tasks from a copy of TheAgentCompany, held against facts of the copy's own files.

WORKSAMPLE_TAC_COPY names a whole copy of the repository; without it, the small repository of the tests is read.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from formats.tac_small_repository import write_repository
from worksample.agents import PRESETS, define, show_prompts
from worksample.files import HashSink
from worksample.formats.tac.original_import import import_original
from worksample.tasks import ingest, read_package

LOGINS = {"owncloud": ":8092", "rocketchat": ":3000", "gitlab": ":8929/users/sign_in", "plane": ":8091"}
TITLES = {"owncloud": "ownCloud", "rocketchat": "Rocket.Chat", "gitlab": "GitLab", "plane": "Plane"}


def prompt_of(package: Path) -> str:
    [instance] = ingest(read_package(package), HashSink()).instances
    [text] = show_prompts(define(harness="worker", model="provider/model", preset="tac"), instance)
    return text


def wrong_facts(task: Path, package: Path) -> list[str]:
    """Facts of the original's files that the package's prompt lacks or contradicts."""
    text, wrong = prompt_of(package), []
    listed = (task / "dependencies.yml").read_text() if (task / "dependencies.yml").is_file() else ""
    needed = set(re.findall(r"^-\s*['\"]?(\w+)", listed, re.MULTILINE)) & LOGINS.keys()
    if (task / "task.md").read_text().strip() not in text:
        wrong.append("the original's words")
    if ("user name root, password theagentcompany" in text) != ("gitlab" in needed):
        wrong.append("GitLab's password")
    signed = re.search(r"already signed in to (.*)\.$", text, re.MULTILINE)
    if set(re.findall(r"[\w.]+(?= \()", signed[1] if signed else "")) != {TITLES[name] for name in needed}:
        wrong.append("the browser's logins")
    wrong += [f"the address {LOGINS[name]}" for name in needed if f"the-agent-company.com{LOGINS[name]}" not in text]
    copied = re.findall(r"^COPY\s+(\S+)\s+/workspace/?(\S*)\s*$", dockerfile(task), re.MULTILINE)
    copied = [(source, target) for source, target in copied if (task / source).is_file()]
    for source, target in copied:
        name = target or source
        if f"`/workspace/{name}`" not in text:
            wrong.append(f"/workspace/{name}")
    if copied and "/workspace already has copies" not in text:
        wrong.append("the files are in /workspace")
    if "/data" in text and "/data" not in dockerfile(task) + (task / "task.md").read_text():
        wrong.append("/data, which the original's image lacks")
    return [f"{task.name}: {one}" for one in wrong]


def dockerfile(task: Path) -> str:
    return (task / "Dockerfile").read_text() if (task / "Dockerfile").is_file() else ""


def test_prompts_have_the_facts_of_the_originals(tmp_path: Path) -> None:
    copy = Path(os.environ.get("WORKSAMPLE_TAC_COPY") or write_repository(tmp_path / "copy"))
    made = import_original(copy, tmp_path / "tac", skip_faulty=True)
    assert made
    tasks = copy / "workspaces/tasks"
    assert not [fact for root in made for fact in wrong_facts(tasks / root.name.removeprefix("tac-"), root)]


def test_limits_are_those_of_the_original_run_script(tmp_path: Path) -> None:
    copy = os.environ.get("WORKSAMPLE_TAC_COPY")
    script = (
        (Path(copy) / "evaluation/run_eval.py").read_text() if copy else "max_iterations=100 max_budget_per_task=4,"
    )
    [root] = import_original(
        Path(copy) if copy else write_repository(tmp_path / "copy"),
        tmp_path / "tac",
        tasks=["sde-install-go" if copy else "pm-greet"],
    )
    limits = read_package(root).instances[0].environment.limits
    assert f"max_iterations={limits.turns}" in script
    assert limits.time is None
    settings = PRESETS["tac"].settings
    assert f"max_budget_per_task={settings['limits']['cost']:g}," in script
    assert set(settings["tools"]) == {"bash", "python"}


@pytest.mark.parametrize("name", ["finance-report"])
def test_files_of_the_image_lie_in_the_agents_folder(name: str, tmp_path: Path) -> None:
    [root] = import_original(write_repository(tmp_path / "copy"), tmp_path / "tac", tasks=[name])
    [instance] = ingest(read_package(root), HashSink()).instances
    assert instance.work.environment.copied_inputs
    assert (root / "inputs/numbers.csv").is_file()
