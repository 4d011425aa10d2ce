"""Controls of tasks in a company: scripts performed in its services."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from worksample.agents import read_script, read_steps
from worksample.audit import AuditConfig, check
from worksample.audit.control_builder import ControlBuilder
from worksample.errors import PlanError
from worksample.store import Store
from worksample.tasks import ingest, read_package
from worksample.workplace.service_programs import missing_programs_command

EXAMPLES = Path(__file__).parents[2] / "examples"
CASE = 'about = "Says so, and does nothing."\nscore = 0.0\npasses = { told = false }\n'


@pytest.fixture
def task(tmp_path: Path) -> Path:
    root = Path(shutil.copytree(EXAMPLES / "invoice-1043", tmp_path / "tasks/invoice-1043"))
    for case, agent in (("reference", "right"), ("only-says-so", "wrong")):
        (root / "cases" / case).mkdir(parents=True)
        shutil.copy(
            EXAMPLES / "invoice-1043-agents" / agent / "invoice-1043.toml", root / "cases" / case / "script.toml"
        )
    (root / "cases/only-says-so/case.toml").write_text(CASE)
    return root


def test_scripts_of_a_task_are_its_controls(task: Path, tmp_path: Path) -> None:
    package = read_package(task)
    with Store.open(tmp_path / "store", create=True) as store:
        [instance] = ingest(package, store.blobs).instances
        found = ControlBuilder(store, package).scripts(instance)
    assert list(found) == ["nothing", "reference", "case only-says-so"]
    assert found["nothing"] == ()
    assert found["reference"] == read_steps(task / "cases/reference/script.toml", "one")


def test_scripts_of_cases_run_like_agents(task: Path) -> None:
    script = read_script(task.parent / "*/cases/reference/script.toml")
    assert list(script.tasks) == ["invoice-1043"]
    with pytest.raises(PlanError, match="no task in"):
        read_script(task.parent / "*/cases/none/script.toml")
    with pytest.raises(PlanError, match="is not a pattern for the scripts"):
        read_script(task.parent / "*/script.toml")


@pytest.mark.thorough(quick="audit/test_workplace_controls.py::test_scripts_of_a_task_are_its_controls")
@pytest.mark.skipif(
    bool(missing_programs_command(("chat", "tracker", "files", "git", "calendar"))),
    reason="a service's program is missing",
)
def test_audit_performs_the_scripts(task: Path) -> None:
    report = check(read_package(task), AuditConfig(repeats=1, rendering=False))
    assert [one.what for one in report.findings if one.severity == "error"] == []
    assert {one.control: one.score for one in report.graded} == {
        "reference": 1.0,
        "nothing": 0.0,
        "case only-says-so": 0.0,
    }
    broken = task / "cases/only-says-so/script.toml"
    broken.write_text('[[step]]\nrun = "echo the disk is full >&2; exit 3"\n')
    report = check(read_package(task), AuditConfig(repeats=1, rendering=False))
    [said] = [one.what for one in report.findings if one.severity == "error"]
    assert "only-says-so does not finish: step[0] ended with exit status 3: the disk is full" in said
