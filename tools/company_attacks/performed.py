"""Variations performed: a copy of the suite in which a task has the variations as cases, and the audit of this task."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from worksample.audit import AuditConfig, check
from worksample.tasks import read_package

from .variations import ROOT, Variation


@dataclass(frozen=True, slots=True)
class Outcome:
    """The score of a variation of a task. `why` is the grader's reason, or what went wrong in the script."""

    task: str
    name: str
    low: float
    high: float
    score: float | None
    right: bool
    why: str = ""

    @property
    def line(self) -> str:
        """The outcome as a line of a table."""
        score = "ungraded" if self.score is None else f"{self.score:.3f}"
        wanted = f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"
        verdict, why = ("ok   ", "") if self.right else ("WRONG", self.why)
        return f"{verdict} {self.task:18} {self.name:60} {score:>8} {wanted:>9} {why}"

    def plain(self) -> dict[str, Any]:
        """Return the outcome as a dict for JSON."""
        return asdict(self)


def attack(task: str, variations: Sequence[Variation]) -> Iterator[Outcome]:
    """Perform and grade variations of a task, and yield their outcomes."""
    if not variations:
        return
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        suite = Path(folder) / "suite"
        shutil.copytree(ROOT / "company", suite / "company")
        shutil.copy(ROOT / "suite.toml", suite / "suite.toml")
        shutil.copytree(ROOT / "agents", suite / "agents")
        shutil.copytree(ROOT / "tasks" / task, suite / "tasks" / task, ignore=shutil.ignore_patterns("cases"))
        shutil.copytree(ROOT / "tasks" / task / "cases/reference", suite / "tasks" / task / "cases/reference")
        names = {f"v{number:02}": one for number, one in enumerate(variations)}
        for name, one in names.items():
            _write_case(suite / "tasks" / task / "cases" / name, one)
        report = check(read_package(suite / "tasks" / task), AuditConfig(repeats=1, rendering=False))
        stuck = {
            one.what.split(" ", 4)[4].split(" ", 1)[0]: one.what
            for one in report.findings
            if one.what.startswith("the script of case ")
        }
        failed = [one.what for one in report.findings if "criterion" in one.what]
        for graded in report.graded:
            name = graded.control.removeprefix("case ")
            if name not in names:
                continue
            one = names[name]
            wrong = [what for what in failed if what.startswith(f"case {name}:")]
            right = graded.right and not wrong and (one.low == 0 or name not in stuck)
            why = "; ".join([*wrong, stuck.get(name, ""), graded.reason or ""]).strip("; ")
            yield Outcome(task, one.name, one.low, one.high, graded.score, right, why[:400])


def _write_case(folder: Path, one: Variation) -> None:
    folder.mkdir(parents=True)
    fails = f"passes = {{ {one.fails} = false }}\n" if one.fails else ""
    about = f'about = "{one.name}"\nscore = {{ low = {one.low}, high = {one.high} }}\n{fails}'
    (folder / "case.toml").write_text(about, encoding="utf-8")
    (folder / "script.toml").write_text(one.script, encoding="utf-8")
    agents = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("agents/*.py")}
    for name, text in {**agents, **one.files}.items():
        (folder / name).write_text(text, encoding="utf-8")
