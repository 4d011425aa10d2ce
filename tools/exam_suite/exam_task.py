"""A task of the exam suite as its builder sees it, and the writer of its package."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suites.plain_grading import Package, grade, plain

SUITE = Path(__file__).parents[2] / "src" / "worksample" / "suites" / "exam"
MARGIN = 0.03
"""How far a case's score may lie from the one that was measured when the suite was built."""
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Criterion:
    """A criterion of a task: its points, and whether failing it makes the whole 0."""

    id: str
    text: str
    points: int = 1
    gate: bool = False


@dataclass(frozen=True)
class ExamTask:
    """A task of the exam suite.

    make: writes an instance's inputs into a folder. slips: faults that the solver makes on demand, name -> what a person
    would have done wrong; each becomes a case and must lose points. half: the slips of the agent of middling skill.
    filler: deliverables of the right form that say nothing; they must score 0.
    """

    id: str
    title: str
    category: str
    occupation: str
    tier: str
    hours: tuple[float, float]
    deliverables: Mapping[str, tuple[str, str]]
    brief: str
    criteria: tuple[Criterion, ...]
    grade: str
    instances: Mapping[str, Settings]
    make: Callable[[random.Random, Path, Settings], None]
    slips: Mapping[str, str]
    half: tuple[str, ...]
    filler: Mapping[str, str]
    notes: str = ""
    software: tuple[str, ...] = ("python3",)
    timeout: int = 120
    family: str = ""
    held_out: Callable[[random.Random, Path, Settings], None] | None = None
    """Writes what the grader needs beside the deliverables into an instance's reference."""
    hide: tuple[str, ...] = ()
    """Names of files of the reference that people must not see."""

    @property
    def root(self) -> Path:
        return SUITE / "tasks" / self.id

    @property
    def solver(self) -> Path:
        return SUITE / "scripts" / "good" / "files" / f"{self.id}.py"


def write_package(task: ExamTask) -> list[str]:
    """Write a task's package, its scripts and its cases. Return what is wrong with it."""
    shutil.rmtree(task.root, ignore_errors=True)
    task.root.mkdir(parents=True)
    for name, text in {
        "task.toml": manifest(task), "brief.md": task.brief.strip() + "\n", "criteria.toml": criteria(task),
        "grade.py": task.grade.lstrip(), "notes.md": notes(task),
    }.items():  # fmt: skip
        (task.root / name).write_text(text, encoding="utf-8")
    for number, (name, settings) in enumerate(task.instances.items()):
        inputs, reference = task.root / "inputs" / name, task.root / "reference" / name
        inputs.mkdir(parents=True)
        task.make(random.Random(f"{task.id}/{number}"), inputs, settings)
        solve(task, inputs, reference)
        if task.held_out is not None:
            task.held_out(random.Random(f"{task.id}/{number}/held out"), reference, settings)
    write_scripts(task)
    return write_cases(task)


def solve(task: ExamTask, inputs: Path, output: Path, *slips: str) -> None:
    """Run the solver, as the good agent does in its box."""
    output.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(task.solver), str(inputs), str(output), *slips], check=True, cwd=output)


def toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def manifest(task: ExamTask) -> str:
    """Return task.toml."""
    canary = uuid.UUID(hashlib.md5(f"worksample exam {task.id}".encode(), usedforsecurity=False).hexdigest())
    low, high = task.hours
    lines = [
        f"id = {toml(task.id)}", f"title = {toml(task.title)}", 'version = "1.0"',
        f'canary = "worksample-canary-{canary}"', "", "[about]", f'category = "ale:{task.category}"',
        f'occupation = "{task.occupation}"', f'tier = "{task.tier}"', 'licence = "CC-BY-4.0"',
        'provenance = "Made for the exam suite by a seeded program (tools/exam_suite); all data are invented."',
        f'tags = ["exam", "{task.family}"]',
        f'value = {{ low = {round(60 * low)}, high = {round(90 * high)}, currency = "USD", date = 2026-11-28, source = "illustrative" }}',
        f'hours = {{ low = {low}, high = {high}, date = 2026-11-28, source = "illustrative" }}', "",
        "[environment]", 'interfaces = ["terminal"]', 'network = "none"', f"software = {toml(list(task.software))}",
        'limits = { time = 3600, memory = "2GiB", processes = 128, disk = "512MiB" }', "", "[deliverables]",
    ]  # fmt: skip
    lines += [
        f'{toml(name)} = {{ format = "{form}", required = true, about = {toml(about)} }}'
        for name, (form, about) in task.deliverables.items()
    ]
    lines += ["", "[grading.program]", 'entry = "grade.py"', f"timeout = {task.timeout}", 'memory = "3GiB"', ""]
    if task.hide:
        lines += ["[reference]", f"hide = {toml(list(task.hide))}", ""]
    for name, settings in task.instances.items():
        lines += ["[[instance]]", f'name = "{name}"', f'inputs = "inputs/{name}"', f'reference = "reference/{name}"']
        shown = {k: v for k, v in settings.items() if not k.startswith("_")}
        if shown:
            lines += ["", "[instance.settings]", *(f"{key} = {toml(value)}" for key, value in shown.items())]
        lines.append("")
    return "\n".join(lines)


def criteria(task: ExamTask) -> str:
    """Return criteria.toml."""
    blocks = []
    for one in task.criteria:
        gate = "gate = true\n" if one.gate else ""
        blocks.append(f'[[criterion]]\nid = "{one.id}"\ntext = {toml(one.text)}\npoints = {one.points}\n{gate}')
    return "\n".join(blocks)


def notes(task: ExamTask) -> str:
    """Return notes.md."""
    slips = "\n".join(f"- {about}" for about in task.slips.values())
    return (
        f"# Notes for evaluators\n\n{task.notes.strip()}\n\nThe reference was made by `scripts/good/files/{task.id}.py` from the "
        f"inputs alone, as a person could.\n\nFaults that must cost points (each is one of `cases/`):\n\n{slips}\n"
    )


def write_scripts(task: ExamTask) -> None:
    """Write the scripted agents: good, half (plausible faults), bad (copies and fillers)."""
    for name, slips in (("good", ()), ("half", task.half)):
        folder = SUITE / "scripts" / name
        folder.mkdir(parents=True, exist_ok=True)
        words = " ".join(("python3 {scratch}/solve.py {input} {output}", *slips))
        source = f"files/{task.id}.py" if name == "good" else f"../good/files/{task.id}.py"
        (folder / f"{task.id}.toml").write_text(
            f'[[step]]\nrun = "ls -l {{input}}"\n\n[[step]]\nwrite = "{{scratch}}/solve.py"\nfrom = "{source}"\n\n'
            f'[[step]]\nrun = "{words} && ls -l {{output}}"\n\n[[step]]\nsubmit = "Done."\n',
            encoding="utf-8",
        )
    folder = SUITE / "scripts" / "bad"
    folder.mkdir(parents=True, exist_ok=True)
    steps = []
    for name, content in task.filler.items():
        steps.append(f"[[step]]\nwrite = {toml('{output}/' + name)}\nraw = true\ntext = {toml(content)}\n")
    (folder / f"{task.id}.toml").write_text(
        "\n".join(steps).replace("raw = true\n", "") + '\n[[step]]\nsubmit = "Done, everything is in place."\n',
        encoding="utf-8",
    )


def score_of(task: ExamTask, instance: str, output: Path) -> tuple[float, str]:
    """Return the score that the grader gives, and its parts. Raises RuntimeError if the grader fails."""
    import tomllib

    told = plain(tomllib.loads((task.root / "criteria.toml").read_text(encoding="utf-8"))["criterion"])
    package = Package(
        task.root, tomllib.loads((task.root / "task.toml").read_text(encoding="utf-8")), {"criteria": told}
    )
    with tempfile.TemporaryDirectory() as scratch:
        found = grade(package, instance, output, Path(scratch))
    if "failed" in found:
        raise RuntimeError(f"{task.id}/{instance}: {found['failed']}: {found['reason']}")
    return found["grade"]["score"], json.dumps(found["grade"])


def write_cases(task: ExamTask) -> list[str]:
    """Write cases with the scores that were measured. Return what is wrong: a reference below 1, a slip that costs
    nothing, a filler that earns something.
    """
    wrong = []
    first = next(iter(task.instances))
    for instance in task.instances:
        score, parts = score_of(task, instance, task.root / "reference" / instance)
        if score < 0.9999:
            wrong.append(f"{task.id}/{instance}: the reference scores {score}: {parts[:1500]}")
    for slip, about in task.slips.items():
        folder = task.root / "cases" / slip
        solve(task, task.root / "inputs" / first, folder / "output", slip)
        score, parts = score_of(task, first, folder / "output")
        if score > 0.97:
            wrong.append(f"{task.id}: the slip {slip} costs nothing: {parts[:1500]}")
        write_case(folder, about, first, score)
        print(f"  {task.id}: {slip} {score:.3f}")
    folder = task.root / "cases" / "filler"
    (folder / "output").mkdir(parents=True)
    for name, content in task.filler.items():
        (folder / "output" / name).write_text(content, encoding="utf-8")
    score, parts = score_of(task, first, folder / "output")
    if score > 0:
        wrong.append(f"{task.id}: the filler earns {score}: {parts[:1500]}")
    write_case(folder, "Files with the right names and form, and nothing in them.", first, 0.0)
    with tempfile.TemporaryDirectory() as scratch:
        solve(task, task.root / "inputs" / first, Path(scratch), *task.half)
        score, _ = score_of(task, first, Path(scratch))
        print(f"  {task.id}: half {score:.3f}")
        if not 0.05 <= score <= 0.95:
            wrong.append(f"{task.id}: the half-right agent scores {score}")
        if task.tier != tier_of(score):
            wrong.append(
                f"{task.id}: the tier is {task.tier}, but the half-right agent's {score:.3f} makes it {tier_of(score)}"
            )
    return wrong


def tier_of(half: float) -> str:
    """Return the tier of a task whose half-right agent scores `half`: the easier, the more careless work is worth."""
    return "easy" if half >= 0.6 else "medium" if half >= 0.25 else "hard"


def write_case(folder: Path, about: str, instance: str, score: float) -> None:
    low, high = max(0.0, round(score - MARGIN, 3)), min(0.98, round(score + MARGIN, 3))
    told = "0.0" if score == 0 else f"{{ low = {low}, high = {high} }}"
    (folder / "case.toml").write_text(
        f'about = {toml(about)}\ninstance = "{instance}"\nscore = {told}\n', encoding="utf-8"
    )
