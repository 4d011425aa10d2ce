"""Starter tasks on pages, drawings, sound, solids, reports and forms: the audit's controls, quickly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suites.apart import apart
from suites.plain_grading import SUITE, Package, grade, lay_case
from worksample.agents.agent_script import fill_placeholders, read_script

TASKS = ["audio-edit", "bracket-3d", "form-filling", "incident-report", "logo-vector", "web-page"]
PACKAGES = {t: Package.read(t) for t in TASKS}
INSTANCES = [(t, i) for t in TASKS for i in PACKAGES[t].instances]
CASES = [(t, folder.name) for t in TASKS for folder, _ in PACKAGES[t].cases()]


def graded(package: Package, instance: str, output: Path, scratch: Path, **more: Any) -> dict[str, Any]:
    found = apart(grade, package, instance, output, scratch, **more)
    assert "grade" in found, found
    return dict(found["grade"])


def passed(found: dict[str, Any]) -> dict[str, bool]:
    return {p["name"]: p["fraction"] >= 1 - 1e-9 for p in found["parts"]}


@pytest.mark.parametrize(("task", "instance"), INSTANCES)
def test_reference_scores_full_twice_and_controls_zero(task: str, instance: str, tmp_path: Path) -> None:
    package = PACKAGES[task]
    first, second = (graded(package, instance, package.reference(instance), tmp_path / "x") for _ in range(2))
    assert first == second
    assert first["score"] == 1.0, first
    nothing, empty, copied = (tmp_path / name for name in ("nothing", "empty", "copied"))
    nothing.mkdir()
    shutil.copytree(package.inputs(instance), copied)
    for name in package.manifest["deliverables"]:
        for folder in (empty, copied):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (empty / name).touch()
        for source in sorted(package.inputs(instance).rglob(f"*{Path(name).suffix}")):
            shutil.copy(source, copied / name)
    for folder in (nothing, empty, copied):
        assert graded(package, instance, folder, tmp_path / "x")["score"] == 0.0, folder


@pytest.mark.parametrize(("task", "instance"), INSTANCES)
def test_missing_reference_grades_nobody(task: str, instance: str, tmp_path: Path) -> None:
    package = PACKAGES[task]
    lost, broken = tmp_path / "lost", tmp_path / "broken"
    lost.mkdir()
    shutil.copytree(package.reference(instance), broken)
    (broken / "expected.json").write_text('{"unfinished": ')
    for output in (package.reference(instance), lost):
        for reference in (lost, broken):
            found = apart(grade, package, instance, output, tmp_path / "x", reference=reference)
            assert found.get("failed") == "grader.reference", found


@pytest.mark.parametrize(("task", "name"), CASES)
def test_each_case_gets_its_score(task: str, name: str, tmp_path: Path) -> None:
    package = PACKAGES[task]
    folder, case = next((f, c) for f, c in package.cases() if f.name == name)
    output = lay_case(package, folder, case, tmp_path / "output")
    found = graded(package, case["instance"], output, tmp_path / "x")
    wanted = case["score"] if isinstance(case["score"], dict) else {"low": case["score"], "high": case["score"]}
    assert wanted["low"] - 1e-6 <= found["score"] <= wanted["high"] + 1e-6, found
    states = passed(found)
    for criterion, wants in case["passes"].items():
        assert states[criterion] is wants, (criterion, found)


@pytest.mark.parametrize(("task", "instance"), INSTANCES)
def test_each_instance_has_a_case_that_fails_each_criterion(task: str, instance: str) -> None:
    package = PACKAGES[task]
    failing = {
        c for _, case in package.cases() for c, w in case["passes"].items() if not w and case["instance"] == instance
    }
    assert {c["id"] for c in package.criteria["criteria"]} <= failing


def work(agent: str, task: str, instance: str, place: Path) -> Path:
    """A script's commands and files as plain processes; gives the output folder."""
    package, script = PACKAGES[task], read_script(SUITE / "scripts" / agent).tasks[task]
    words = {"input": str(package.inputs(instance)), "output": str(place / "output"), "scratch": str(place / "scratch")}
    words |= {"task": task, "instance": instance}
    for name in ("output", "scratch"):
        (place / name).mkdir()
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for step in script.instances.get(instance, script.steps):
        if step.write is not None:
            Path(fill_placeholders(step.write, words, raw=False)).write_text(
                fill_placeholders(step.text or "", words, raw=step.raw)
            )
        elif step.run is not None:
            command = ["bash", "-c", fill_placeholders(step.run, words, raw=step.raw)]
            done = subprocess.run(
                command, cwd=place / "scratch", check=False, capture_output=True, timeout=60, env={"PATH": tools}
            )
            assert done.returncode == 0, done.stderr.decode()[-2000:]
    return place / "output"


@pytest.mark.thorough(quick="cli/test_newcomer.py::test_demo_distinguishes_good_from_bad_agents[some]")
@pytest.mark.parametrize(("task", "instance"), INSTANCES)
def test_scripted_agents_rank_by_quality(task: str, instance: str, tmp_path: Path) -> None:
    scores = {}
    for agent in ("good", "hasty", "lazy"):
        (tmp_path / agent).mkdir()
        output = work(agent, task, instance, tmp_path / agent)
        scores[agent] = graded(PACKAGES[task], instance, output, tmp_path / "x")["score"]
    assert scores["good"] == 1.0
    assert 0.0 <= scores["lazy"] <= scores["hasty"] < 0.7
    assert scores["lazy"] == 0.0


WAVE = b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0"
HOSTILE = {
    "logo-vector": {
        "entities": b'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><title>&b;</title></svg>',
        "outside": b'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><title>&x;</title></svg>',
        "huge": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1e9 1e9"><rect width="1e9" height="1e9"/></svg>',
        "infinite": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><circle r="inf" cx="nan"/></svg>',
        "deep": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">'
        + b"<g>" * 900
        + b"</g>" * 900
        + b"</svg>",
        "path": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><path d="M0 0'
        + b"L9 9" * 9000
        + b'"/></svg>',
    },
    "web-page": {
        "deep": b"<!doctype html>" + b"<div>" * 5_000,
        "wide": b"<!doctype html>" + b"<p>a</p>" * 5_000,
        "binary": bytes(range(256)) * 40,
        "large": b"<p>" + b"a" * 700_000,
    },
    "bracket-3d": {
        "cut": b"\0" * 80 + (2**31).to_bytes(4, "little"),
        "infinite": b"\0" * 80 + (1).to_bytes(4, "little") + b"\xff" * 50,
        "flat": b"solid x\n"
        + b"facet normal 0 0 1\nouter loop\n"
        + b"vertex 0 0 0\n" * 3
        + b"endloop\nendfacet\nendsolid\n",
    },
    "audio-edit": {
        "cut": b"RIFF\xff\xff\xff\x7f" + WAVE + b"data\xff\xff\xff\x7f",
        "silent": b"RIFF\x24\0\0\0" + WAVE + b"data\0\0\0\0",
    },
    "form-filling": {"no zip": b"PK\x03\x04 and nothing else", "text": b"box,value\n1,2\n"},
    "incident-report": {"marks": b"# " * 5_000 + b"\n|" * 5_000, "long": b"## Summary\n" + b"word " * 60_000},
}


@pytest.mark.parametrize(("task", "what"), [(t, what) for t, files in HOSTILE.items() for what in files])
def test_hostile_deliverable_scores_zero_with_a_reason(task: str, what: str, tmp_path: Path) -> None:
    package = PACKAGES[task]
    instance = next(iter(package.instances))
    output = tmp_path / "output"
    shutil.copytree(package.reference(instance), output)
    name = next(iter(package.manifest["deliverables"]))
    (output / name).write_bytes(HOSTILE[task][what])
    found = graded(package, instance, output, tmp_path / "x")
    first = found["parts"][0]
    assert first["fraction"] < 1, found
    assert first["reason"], found
    assert found["score"] < 0.3
