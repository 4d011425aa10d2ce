"""The exam suite: references score full, cases what they say, and shortcuts nothing."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

import worksample
from suites.plain_grading import Package, grade, lay_case
from worksample.cli.demo_studies import EXAM_TASKS

EXAM = Path(worksample.__file__).parent / "suites" / "exam"
NAMES = sorted(path.parent.name for path in (EXAM / "tasks").glob("*/task.toml"))
TASK = pytest.mark.parametrize("name", NAMES)
QUICK = pytest.mark.quick("chain-ladder", "claims-bpmn", "egress-time", "log-rates", "warehouse-robot")
DOMAINS, TASKS = 10, 20


def score_of(package: Package, instance: str, output: Path, place: Path) -> tuple[float, str]:
    found = grade(package, instance, output, place)
    assert "grade" in found, found
    return found["grade"]["score"], str(found["grade"])


def skip_without_office(name: str) -> None:
    if name == "loan-model" and shutil.which("soffice") is None:
        pytest.skip("needs LibreOffice: ./dev setup")


def test_suite_covers_domains_and_families() -> None:
    told = [tomllib.loads((EXAM / "tasks" / name / "task.toml").read_text()) for name in NAMES]
    assert len(NAMES) >= TASKS
    assert len({one["about"]["category"].split("/")[0] for one in told}) >= DOMAINS
    assert all(len(one["instance"]) >= 2 for one in told)
    families = {one["about"]["tags"][1] for one in told}
    assert families == set(EXAM_TASKS)
    chosen = {one["id"]: one["about"]["tags"][1] for one in told}
    assert {family: chosen[where.split("/")[0]] for family, where in EXAM_TASKS.items()} == {f: f for f in families}


@QUICK
@TASK
def test_reference_scores_full_and_each_case_what_it_says(name: str, tmp_path: Path) -> None:
    skip_without_office(name)
    package = Package.read(name, EXAM)
    for instance in package.instances:
        score, parts = score_of(package, instance, package.reference(instance), tmp_path / "run")
        assert score == pytest.approx(1), parts
    for folder, case in package.cases():
        score, parts = score_of(
            package, case["instance"], lay_case(package, folder, case, tmp_path / "case"), tmp_path / "run"
        )
        want = case["score"]
        low, high = (want["low"], want["high"]) if isinstance(want, dict) else (want, want)
        assert low <= score <= high, (folder.name, parts)


def shortcuts(package: Package, instance: str, place: Path) -> dict[str, Path]:
    """Lay submissions that nobody worked for, by name."""
    names = list(package.manifest["deliverables"])
    right = {name: (package.reference(instance) / name).read_bytes() for name in names}
    inputs = sorted(package.inputs(instance).iterdir(), key=lambda path: -path.stat().st_size)
    contents = {
        "empty": dict.fromkeys(names, b""),
        "placeholder": dict.fromkeys(names, b"TODO: done later\n"),
        "zeros": {name: bytes(len(data)) for name, data in right.items()},
        "noise": {name: bytes((i * 89 + 7) % 253 for i in range(len(data))) for name, data in right.items()},
        "picture": dict.fromkeys(names, b"\x89PNG\r\n\x1a\n" + bytes(200)),
        "braces": dict.fromkeys(names, b"{}"),
    }
    for path in inputs[:3]:
        contents[f"input {path.name}"] = dict.fromkeys(names, path.read_bytes())
    laid = {"nothing": place / "nothing", "links": place / "links"}
    for folder in laid.values():
        folder.mkdir(parents=True)
    for name in names:
        (laid["links"] / name).symlink_to(package.reference(instance) / name)
    for what, files in contents.items():
        laid[what] = place / what.replace(" ", "-")
        laid[what].mkdir()
        for name, data in files.items():
            (laid[what] / name).write_bytes(data)
    same = laid["same names"] = place / "same-names"
    same.mkdir()
    for path in inputs:
        if path.is_file():
            shutil.copy(path, same / path.name)
    return laid


@QUICK
@TASK
def test_shortcuts_score_0(name: str, tmp_path: Path) -> None:
    skip_without_office(name)
    package = Package.read(name, EXAM)
    instance = next(iter(package.instances))
    found = {
        what: score_of(package, instance, folder, tmp_path / "run")
        for what, folder in shortcuts(package, instance, tmp_path / "laid").items()
    }
    assert {what: told for what, told in found.items() if told[0] > 0} == {}


@pytest.mark.quick("chain-ladder", "claims-bpmn", "egress-time", "warehouse-robot")
@pytest.mark.parametrize("name", [name for name in NAMES if name != "log-rates"])  # its program is right for every log
def test_answer_of_another_instance_is_worth_little(name: str, tmp_path: Path) -> None:
    skip_without_office(name)
    package = Package.read(name, EXAM)
    first, second = list(package.instances)[:2]
    score, parts = score_of(package, first, package.reference(second), tmp_path / "run")
    assert score <= 0.35, parts
