"""`worksample demo company`: installation, refusals, and the whole study from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.run_cli import cli, cli_json
from worksample.cli.demo_studies import AGENT, FONTS, TASK, company_config
from worksample.errors import SandboxUnavailable
from worksample.experiments.planning.plan_preparation import prepare
from worksample.files import HashSink
from worksample.sudo_command import root_command
from worksample.workplace.install import apt_get

PACKAGES = ("chromium", FONTS)

APT = """#!/bin/sh
echo "$@" >> {log}
case "$1" in
  update) [ -n "{lists}" ] && touch {folder}/lists; [ -n "{lists}" ] ;;
  install) [ -e {folder}/lists ] || {{ echo "E: Unable to locate package" >&2; exit 100; }} ;;
esac
"""


def machine(folder: Path, monkeypatch: pytest.MonkeyPatch, *, lists: str = "") -> Path:
    """A PATH whose apt-get has no lists, and gets them with `update` where there are some; what it was asked."""
    log = folder / "log"
    for name, text in {
        "apt-get": APT.format(log=log, folder=folder, lists=lists),
        "sudo": '#!/bin/sh\nshift\nexec "$@"\n',
    }.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return log


def test_fresh_machine_updates_package_lists_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = machine(tmp_path, monkeypatch, lists="some")
    assert apt_get(PACKAGES) == PACKAGES
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["install", "update", "install"]
    apt_get(PACKAGES)
    assert len(log.read_text().splitlines()) == 4


def test_failed_installation_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path, monkeypatch)
    with pytest.raises(SandboxUnavailable) as raised:
        apt_get(PACKAGES)
    line = f"apt-get install -y -qq --no-install-recommends {' '.join(PACKAGES)}"
    assert raised.value.next == root_command(line)
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(SandboxUnavailable, match="is not installed"):
        apt_get(PACKAGES)


@pytest.mark.parametrize(
    ("user", "sudo", "said"),
    [(0, True, "apt-get update"), (1000, True, "sudo apt-get update"), (1000, False, "su -c 'apt-get update'")],
)
def test_root_command_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, sudo: bool, said: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    if sudo:
        (tmp_path / "sudo").write_text("")
        (tmp_path / "sudo").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert root_command("apt-get update") == said


def test_study_is_one_task_with_a_browser_and_a_script() -> None:
    plan = prepare(company_config("none", sandbox="bubblewrap"), HashSink())
    [instance], [agent] = plan.inputs.instances, plan.inputs.agents
    assert (instance.task, agent.name) == (TASK, AGENT) and instance.work.environment.browser is not None
    steps = agent.settings["script"]["tasks"][TASK]["steps"]
    assert {key for one in steps for key in ("browse", "run", "python", "submit") if key in one} == {
        "browse", "run", "python", "submit",
    }  # fmt: skip


def test_demo_without_boxes_is_refused(tmp_path: Path) -> None:
    done = cli("demo", "company", "--unsandboxed", cwd=tmp_path)
    assert done.returncode == 2 and "needs boxes" in done.stderr and not list(tmp_path.iterdir())


@pytest.mark.box
@pytest.mark.browser
@pytest.mark.workplace
@pytest.mark.thorough(quick="cli/test_demo_company.py::test_study_is_one_task_with_a_browser_and_a_script")
@pytest.mark.long(seconds=120)
def test_company_study_runs_and_its_screenshots_are_reported(tmp_path: Path) -> None:
    shown = cli_json("demo", "company", cwd=tmp_path)
    [row] = shown["rows"]
    assert (row["name"], row["valid"], row["passed"]["value"]) == (AGENT, 1, 1.0)
    page = Path(shown["page"])
    assert page.is_relative_to(tmp_path / "worksample-demo" / "company" / "report")
    text = page.read_text()
    assert "The agent&#39;s browser" in text or "The agent's browser" in text
    assert "Then two desktop computers and two wireless mice." in text and "did approve-desktops: done" in text
    assert text.count('loading="lazy"') > 20
    assert len(list((page.parents[2] / "files").glob("*.jpg"))) > 20
