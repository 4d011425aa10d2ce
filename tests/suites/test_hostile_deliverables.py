"""Hostile deliverables: the starter graders grade anything, quickly and within bounds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from running.profiles import examples
from suites.apart import apart
from suites.hostile_deliverables import SECONDS, graded
from suites.plain_grading import SUITE, Package

TASKS = sorted(p.name for p in (SUITE / "tasks").iterdir())
PROPORTION = 400
"""So many examples would be all mutants of a task."""
PROGRAM = Path(__file__).with_name("hostile_deliverables.py")


@pytest.mark.quick("logo-vector", "sales-cleanup")
@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
def test_sample_of_mutants_is_graded(task: str) -> None:
    """All of them: `PYTHONPATH=tests python tests/suites/hostile_deliverables.py TASK`."""
    env = {"PYTHONPATH": str(PROGRAM.parents[1]), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, str(PROGRAM), task, str(examples(20) / PROPORTION)]
    done = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    *faults, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert faults == []
    assert last["graded"] >= 3


def spoilt(task: str, changes: dict[str, str | bytes], place: Path) -> tuple[str, float]:
    """What grading a reference with some files changed comes to: what failed, and seconds of processor time."""
    package = Package.read(task)
    instance = next(iter(package.instances))
    output = place / "output"
    shutil.copytree(package.reference(instance), output)
    for name, data in changes.items():
        (output / name).write_bytes(data.encode() if isinstance(data, str) else data)
    (place / "scratch").mkdir()
    return apart(graded, package, instance, output, place / "scratch")


def reference(task: str, name: str) -> str:
    package = Package.read(task)
    return (package.reference(next(iter(package.instances))) / name).read_text()


def turned(text: str, transform: str) -> str:
    return text.replace("<path", f'<path transform="{transform}"').replace("<rect", f'<rect transform="{transform}"')


SVG = {"logo-vector": "logo.svg", "survey-chart": "chart.svg"}
TRANSFORMS = (
    "rotate(99999999999999999999999)",
    f"rotate({'9' * 400})",
    "scale(1e300) " * 9,
    "scale(999999) " * 60,
    "translate(1e308) translate(1e308)",
)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("task", sorted(SVG))
def test_extreme_transform_is_graded(task: str, transform: str, tmp_path: Path) -> None:
    said, seconds = spoilt(task, {SVG[task]: turned(reference(task, SVG[task]), transform)}, tmp_path)
    assert (said, seconds < SECONDS / 2) == ("", True)


@pytest.mark.parametrize(
    "text", ["{" * 500_000, "a " * 1_000_000, "'" * 900_000, "<a" * 400_000, "{a, plural, other {" * 9_000]
)
def test_message_of_a_million_characters_is_graded(text: str, tmp_path: Path) -> None:
    messages = dict.fromkeys(json.loads(reference("translation-strings", "translation.json")), text[:60_000])
    messages[next(iter(messages))] = text
    said, seconds = spoilt("translation-strings", {"translation.json": json.dumps(messages)}, tmp_path)
    assert (said, seconds < SECONDS / 2) == ("", True)


def test_overflowing_amounts_are_graded(tmp_path: Path) -> None:
    head, first, *rest = reference("sales-cleanup", "sales.csv").splitlines()
    cells = first.split(",")
    cells[head.split(",").index("amount")] = "1e308"
    table = "\n".join([head, ",".join(cells), ",".join(cells), *rest])
    said, seconds = spoilt("sales-cleanup", {"sales.csv": table}, tmp_path)
    assert (said, seconds < SECONDS / 2) == ("", True)


@pytest.mark.long
@pytest.mark.quick("sales-cleanup")
@pytest.mark.parametrize("task", ["sales-cleanup", "expense-reconciliation"])
def test_two_hundred_thousand_rows_are_graded(task: str, tmp_path: Path) -> None:
    name = {"sales-cleanup": "sales.csv", "expense-reconciliation": "matches.csv"}[task]
    head, *rows = reference(task, name).splitlines()
    width = 1_000_000 // (head.count(",") + 1)
    many = [head, *(rows[n % len(rows)] for n in range(min(199_000, width - 10)))]
    said, seconds = spoilt(task, {name: "\n".join(many)}, tmp_path)
    assert (said, seconds < SECONDS) == ("", True)


def test_endless_digits_in_a_report_are_graded(tmp_path: Path) -> None:
    text = reference("incident-report", "report.md")
    for hostile in ("9" * 150_000, "# " + " " * 100_000 + "x", "$" + "9 " * 50_000, "|" + "-" * 150_000):
        changed = text.replace("## Summary\n", f"## Summary\n\n{hostile}\n", 1)
        (tmp_path / str(len(hostile))).mkdir(exist_ok=True)
        said, seconds = spoilt("incident-report", {"report.md": changed}, tmp_path / str(len(hostile)))
        assert (said, seconds < SECONDS / 2) == ("", True)


PAGES = {
    "a bracket that is never closed": ("site/index.html", "</main>", '<a href="http://[">x</a></main>'),
    "a declaration that nobody knows": ("site/index.html", "<body", "<![1[ x ]]><body"),
    "an opacity that is no number": ("site/styles.css", "body {", "body { opacity: 1.2.3; } p { opacity: . } body {"),
    "brackets that are never closed": ("site/styles.css", "body {", "a { b: " + "var(" * 12_000 + "} body {"),
    "selectors without end": ("site/styles.css", "body {", "q " + "* " * 18 + "b { } body {"),
    "comments that are never closed": ("site/index.html", "</main>", "<!--" * 15_000),
}


@pytest.mark.parametrize("what", sorted(PAGES))
def test_slow_or_failing_page_is_graded(what: str, tmp_path: Path) -> None:
    name, old, new = PAGES[what]
    text = reference("web-page", name)
    assert old in text
    deep = "<div>" * 80 if "selectors" in what else ""
    changes: dict[str, str | bytes] = {name: text.replace(old, new, 1)}
    if deep:
        changes["site/index.html"] = reference("web-page", "site/index.html").replace("<main", f"{deep}<b>x</b><main")
    said, seconds = spoilt("web-page", changes, tmp_path)
    assert (said, seconds < SECONDS / 2) == ("", True)
