"""The shipped company Quaymark: valid, as its generator makes it, with scripts that score as expected."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from worksample.audit import AuditConfig, check
from worksample.tasks import find_suite, read_package, read_suite
from worksample.workplace.colleagues.colleague_audit import audit
from worksample.workplace.colleagues.responders import RuleResponder
from worksample.workplace.company import Company
from worksample.workplace.company_reader import read_company

ROOT = find_suite("quaymark").parent
TASKS = sorted(path.parent.name for path in ROOT.glob("tasks/*/task.toml"))


@pytest.fixture(scope="module")
def company() -> Company:
    return read_company(ROOT / "company")


def test_company_is_as_large_as_stated(company: Company) -> None:
    files = [path for path in (ROOT / "company/files").rglob("*") if path.is_file()]
    assert len(company.person) >= 19
    assert len(company.colleagues) == len(company.person) - 1
    assert all(one.message for one in company.channels.values())
    assert sum(len(one.message) for one in company.channels.values()) >= 240
    assert len([one for one in company.repositories.values() if len(one.commit) >= 4]) >= 5
    assert sum(len(one.issue) for one in company.projects) >= 100
    assert len(files) >= 50
    kinds = {path.suffix for path in files}
    assert kinds >= {".xlsx", ".docx", ".pdf", ".csv", ".eml", ".png", ".ods", ".txt", ".md"}
    assert sum(path.stat().st_size for path in ROOT.rglob("*") if path.is_file()) < 4 << 20


def test_colleagues_tell_what_they_should(company: Company) -> None:
    found = asyncio.run(audit(company.colleagues, lambda one: RuleResponder(), repeats=1))
    assert not found.findings, found.findings


def test_documents_match_their_generator() -> None:
    argv = [sys.executable, "-m", "tools.quaymark", "--check"]
    done = subprocess.run(argv, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "company/repositories").glob("*.toml")))
def test_every_commit_of_a_repository_passes_its_tests(name: str, tmp_path: Path) -> None:
    folder = ROOT / "company/repositories"
    for commit in tomllib.loads((folder / f"{name}.toml").read_text())["commit"]:
        for path in (folder / name / commit["files"]).rglob("*"):
            if path.is_file():
                target = tmp_path / path.relative_to(folder / name / commit["files"])
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
        argv = [sys.executable, "-B", "-m", "unittest", "-q"]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
        ran_none = done.returncode == 5  # the first commits have no tests yet
        assert done.returncode == 0 or ran_none, done.stderr


def test_every_task_has_a_right_script_and_a_wrong_one() -> None:
    suite = read_suite(ROOT)
    assert len(suite.packages) >= 20
    departments = Counter(one.about.category for one in suite.packages)
    assert set(departments) == {f"tac:{name}" for name in ("sde", "pm", "ds", "admin", "hr", "finance", "other")}
    assert min(departments.values()) >= 2
    assert sorted(one.id for one in suite.packages) == TASKS
    for package in suite.packages:
        assert (package.root / "cases/reference/script.toml").is_file(), package.id
        assert any(case.script is not None and case.low < 1 for case in package.cases), package.id
        assert all(leaf.kind is not None for node in package.criteria.criteria for leaf in node.leaves), package.id


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.thorough(quick="suites/test_quaymark_company.py::test_every_task_has_a_right_script_and_a_wrong_one")
@pytest.mark.long(seconds=60)
@pytest.mark.parametrize("name", TASKS)
def test_task_passes_its_audit(name: str) -> None:
    """Its scripts are performed in the services for real, and get the scores that they must."""
    report = check(read_package(ROOT / "tasks" / name), AuditConfig(repeats=1, rendering=False))
    assert [one.what for one in report.findings if one.severity == "error"] == []
    assert all(one.right for one in report.graded), report.graded
