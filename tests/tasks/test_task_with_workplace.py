"""A task in a company's services: its manifest and its digests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from worksample.files import HashSink
from worksample.files.config_files import FaultyManifest
from worksample.records import Agent, Instance
from worksample.runs.trial_endpoints import why_unreachable
from worksample.sandboxes.endpoints import HostAllowance
from worksample.tasks import ingest, read_package

EXAMPLE = Path(__file__).parents[2] / "examples/invoice-1043"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "invoice-1043"))


def instance(root: Path) -> Instance:
    return ingest(read_package(root), HashSink()).instances[0]


def test_services_are_endpoints_and_their_state_is_captured(package: Path) -> None:
    found = instance(package)
    environment = found.work.environment
    assert [f"{one.name}:{one.port} {one.to}" for one in environment.endpoints] == [
        "chat:3000 service:workplace:3000",
        "tracker:8091 service:workplace:8091",
        "files:8092 service:workplace:8092",
        "git:8929 service:workplace:8929",
        "calendar:5232 service:workplace:5232",
    ]
    assert found.capture.exports == ("workplace",)
    assert environment.workplace is not None
    assert environment.workplace.setup is not None


def test_company_and_setup_are_work_and_not_grader(package: Path) -> None:
    before = instance(package)
    [grading] = before.grading.values()
    for name in ("company/files/boats/safety.md", "setup/setup.py"):
        with (package / name).open("a") as file:
            file.write("\n")
        after = instance(package)
        assert after.work_digest != before.work_digest
        assert next(iter(after.grading.values())).digest == grading.digest
        before = after


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('company = "company"\n', "", 'company needs network = "workplace"'),
        ('network = "workplace"', 'network = "none"', 'company needs network = "workplace"'),
        ('"calendar"]', '"calender"]', "did you mean 'calendar'?"),
        (
            'services = ["chat", "tracker", "files", "git", "calendar"]',
            "services = []",
            "must list at least one service of the workplace",
        ),
        ('company = "company"', 'company = "companies"', "companies"),
        ('setup = "setup"', 'setup = "reference"', "the agent could get at it"),
    ],
)
def test_conflicting_settings_are_faults(package: Path, old: str, new: str, said: str) -> None:
    text = (package / "task.toml").read_text()
    assert old in text
    (package / "task.toml").write_text(text.replace(old, new))
    with pytest.raises(FaultyManifest, match=said):
        read_package(package)


def test_without_isolation_there_is_no_workplace(package: Path) -> None:
    agent = Agent.of("a", "scripted")
    environment = instance(package).work.environment
    assert "need isolation" in why_unreachable(agent, environment, HostAllowance(), sandbox="none")
    assert why_unreachable(agent, environment, HostAllowance(), sandbox="bubblewrap") == ""
