"""Starter tasks on tables, databases, charts, texts and code: the audit's controls, quickly."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from running.profiles import is_quick_run
from suites.apart import apart
from suites.plain_grading import SUITE, Package, grade, lay_case, play

TASKS = [
    "bug-fix-invoice",
    "expense-reconciliation",
    "sales-cleanup",
    "sql-cohorts",
    "survey-chart",
    "translation-strings",
]
INSTANCES = [(t, i) for t in TASKS for i in Package.read(t).instances]
CASES = [(t, folder.name) for t in TASKS for folder, _ in Package.read(t).cases()]


def score(package: Package, instance: str, output: Path, scratch: Path) -> float:
    """Graded twice: equal results, and a grade both times. In the quick profile references alone are."""
    again = not is_quick_run() or output == package.reference(instance)
    first, *others = (apart(grade, package, instance, output, scratch) for _ in range(1 + again))
    assert others in ([], [first])
    assert "grade" in first, first
    return float(first["grade"]["score"])


def passed(result: dict[str, Any]) -> dict[str, bool]:
    def walk(parts: list[dict[str, Any]]) -> dict[str, bool]:
        found = {}
        for part in parts:
            found[part["name"]] = (part["fraction"] or 0) >= 1 - 1e-9
            found |= walk(part["parts"])
        return found

    return walk(result["grade"]["parts"])


@pytest.mark.parametrize(("task", "instance"), INSTANCES)
def test_reference_scores_full_and_controls_zero(task: str, instance: str, tmp_path: Path) -> None:
    package = Package.read(task)
    assert score(package, instance, package.reference(instance), tmp_path) == 1.0
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    assert score(package, instance, nothing, tmp_path) == 0.0
    assert score(package, instance, package.inputs(instance), tmp_path) == 0.0
    empty = tmp_path / "empty"
    for name in package.manifest["deliverables"]:
        path = empty / name.rstrip("/")
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    assert score(package, instance, empty, tmp_path) == 0.0


@pytest.mark.parametrize(("task", "instance"), INSTANCES)
def test_inputs_under_the_deliverables_names_score_zero(task: str, instance: str, tmp_path: Path) -> None:
    package = Package.read(task)
    inputs = [p for p in package.inputs(instance).rglob("*") if p.is_file()]
    for name in package.manifest["deliverables"]:
        alike = [p for p in inputs if p.suffix == Path(name).suffix]
        for n, source in enumerate(alike):
            target = tmp_path / f"as{n}" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
            assert score(package, instance, tmp_path / f"as{n}", tmp_path) < 0.2, source
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize(("task", "instance"), INSTANCES)
def test_missing_reference_grades_nobody(task: str, instance: str, tmp_path: Path) -> None:
    package = Package.read(task)
    lost = tmp_path / "lost"
    lost.mkdir()
    for output in (package.reference(instance), lost):
        found = apart(grade, package, instance, output, tmp_path, reference=lost)
        assert found.get("failed") == "grader.reference", found


@pytest.mark.parametrize(("task", "name"), CASES)
def test_each_case_gets_its_score(task: str, name: str, tmp_path: Path) -> None:
    package = Package.read(task)
    folder, case = next((f, c) for f, c in package.cases() if f.name == name)
    output = lay_case(package, folder, case, tmp_path / "output")
    got = score(package, case["instance"], output, tmp_path)
    wanted = case["score"] if isinstance(case["score"], dict) else {"low": case["score"], "high": case["score"]}
    result = apart(grade, package, case["instance"], output, tmp_path)
    assert wanted["low"] - 1e-6 <= got <= wanted["high"] + 1e-6, result
    states = passed(result)
    for criterion, wants in case.get("passes", {}).items():
        assert states[criterion] is wants, (criterion, result)


@pytest.mark.parametrize("task", TASKS)
def test_each_criterion_has_a_case_that_fails_it(task: str) -> None:
    package = Package.read(task)
    failing = {c for _, case in package.cases() for c, wants in case.get("passes", {}).items() if not wants}
    passing = {c for _, case in package.cases() for c, wants in case.get("passes", {}).items() if wants}
    leaves = {c["id"] for c in package.criteria["criteria"] if not c["parts"]}
    assert leaves <= failing
    assert leaves <= passing


@pytest.mark.thorough(quick="cli/test_newcomer.py::test_demo_distinguishes_good_from_bad_agents[some]")
@pytest.mark.parametrize(("task", "instance"), INSTANCES)
@pytest.mark.parametrize("agent", ["good", "hasty", "lazy"])
def test_scripted_agents_rank_by_quality(agent: str, task: str, instance: str, tmp_path: Path) -> None:
    from worksample.agents.agent_script import read_script

    package = Package.read(task)
    script = read_script(SUITE / "scripts" / agent).tasks[task]
    steps = script.instances.get(instance, script.steps)
    output = play(steps, package.inputs(instance), tmp_path)
    got = score(package, instance, output, tmp_path)
    low, high = {"good": (1.0, 1.0), "hasty": (0.01, 0.9), "lazy": (0.0, 0.0)}[agent]
    assert low <= got <= high, apart(grade, package, instance, output, tmp_path)


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH DATABASE '/etc/passwd' AS other",
        "WITH x AS (SELECT 1) DELETE FROM orders",
        "SELECT load_extension('/tmp/evil.so')",
        "PRAGMA writable_schema = 1",
        "SELECT 1; SELECT 2",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i < 0",
        "SELECT group_concat(hex(zeroblob(900000)), '') FROM orders a, orders b",
        "SELECT a.id FROM orders a, orders b",
        "",
    ],
)
def test_hostile_query_is_the_agents_fault_and_ends(sql: str, tmp_path: Path) -> None:
    package = Package.read("sql-cohorts")
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "cohorts.sql").write_text(sql)
    assert score(package, "shop", tmp_path / "output", tmp_path) == 0.0


HOSTILE: dict[str, bytes] = {
    "bytes": bytes(range(256)) * 40,
    "nan": b'{"shares": {"car": NaN}, "largest": 1e999}',
    "deep": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "list": b"[1, 2, 3]",
    "surrogate": b'{"nav.venues": "\\ud800 {", "app.tagline": "{\\ud800}", "home.next": 7, "largest": "\\udfff"}',
    "wide": b"branch,invoice,position,date\n" + b'"' + b"x" * 200_000,
    "digits": b"bank_ref,ledger_entry,cohort,month,ref\n" + b"9" * 5_000 + b",1e400,-inf,nan,\n",
    "svg": b'<svg viewBox="0 0 1e999 nan"><path d="M1e999 0L-1e999 9z" fill="#1f6f8b"/></svg>',
    "entities": b'<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><svg><text>&b;</text></svg>',
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", [*HOSTILE, "folder", "link"])
def test_hostile_deliverables_cost_points_and_never_the_grade(task: str, kind: str, tmp_path: Path) -> None:
    package = Package.read(task)
    instance = next(iter(package.instances))
    output = tmp_path / "output"
    output.mkdir()
    for name in package.manifest["deliverables"]:
        path = output / (name + "money.py" if name.endswith("/") else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to(package.reference(instance) / path.relative_to(output))
        else:
            path.write_bytes(HOSTILE[kind])
    assert score(package, instance, output, tmp_path) < 0.05
