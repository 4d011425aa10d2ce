"""Manifests mutated anywhere raise a ManifestError or are read; no message controls a terminal."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from files.config_files.hostile import HUGE_HEX, plain_values, raw_values, tame, written
from tasks.helpers_package import CRITERIA, TASK, small
from worksample.errors import ManifestError
from worksample.experiments.config_file import load
from worksample.files import HashSink
from worksample.files.config_files import FaultyManifest
from worksample.tasks import find_suite, ingest, ingest_suite, read_package, read_suite

CASE = 'about = "wrong"\ninstance = "one"\nscore = 0\npasses = { right = false }\n'
MORE = (
    TASK.replace(
        "[deliverables]", 'paths = { output = "/work" }\nservices = ["chat"]\nnetwork = "none"\n\n[deliverables]'
    )
    + 'title = "T"\nlimits = { time = 5 }\nbrief = "brief.md"\n\n[reference]\nhide = ["answer.txt"]\n'
)
SUITE = (
    'name = "s"\ntitle = "S"\nversion = "1"\ntasks = ["small"]\n[roles]\njudge = "a/b"\n'
    '[[tier]]\nname = "t"\ntasks = ["small"]\n'
)
STUDY = 'suite = "starter"\nrepeats = 1\n[limits]\ntime = 5\n[[agents]]\nharness = "scripted"\nsettings = { a = 1 }\n'
VALUE = re.compile(r"(?<==)[^\n={}\[\]]+(?=[\n,}])")
"""A value of ours in a file, to be spoilt."""

values = raw_values | plain_values.map(written)
spoiling = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def spoilt(text: str, data: st.DataObject) -> str:
    """A file with up to three values, keys or lines changed."""
    for _ in range(data.draw(st.integers(1, 3))):
        how = data.draw(st.sampled_from(["value", "value", "key", "line", "more"]))
        lines = text.splitlines()
        if how == "value" and (places := list(VALUE.finditer(text))):
            place = data.draw(st.sampled_from(places))
            text = f"{text[: place.start()]} {data.draw(values)}{text[place.end() :]}"
        elif how == "key":
            key = data.draw(st.sampled_from([*re.finditer(r"^\w+(?= =)|\Z", text, re.MULTILINE)]))
            text = f"{text[: key.start()]}{written(data.draw(st.text(min_size=1, max_size=9)))}{text[key.end() :]}"
        elif how == "line" and lines:
            lines.pop(data.draw(st.integers(0, len(lines) - 1)))
            text = "\n".join(lines) + "\n"
        else:
            text += f"{data.draw(st.sampled_from(['x', 'about.tags', 'limits', 'z.z.z']))} = {data.draw(values)}\n"
    return text


def only_manifest_errors(read: Any) -> None:
    try:
        read()
    except ManifestError as error:
        assert tame(str(error)), str(error)
        assert len(str(error)) < 500_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    package: Path = small(tmp_path)
    (tmp_path / "suite.toml").write_text(SUITE)
    return package


@pytest.mark.parametrize(
    ("file", "text"), [("task.toml", MORE), ("criteria.toml", CRITERIA), ("cases/wrong/case.toml", CASE)]
)
@given(st.data())
@spoiling
def test_mutated_package_is_a_manifest_error(root: Path, file: str, text: str, data: st.DataObject) -> None:
    (root / file).write_text(spoilt(text, data), encoding="utf-8")
    only_manifest_errors(lambda: ingest(read_package(root), HashSink()))


@given(st.data())
@spoiling
def test_mutated_suite_is_a_manifest_error(root: Path, data: st.DataObject) -> None:
    path = root.parent / "suite.toml"
    path.write_text(spoilt(SUITE, data), encoding="utf-8")
    only_manifest_errors(lambda: ingest_suite(read_suite(path), HashSink()))


@given(st.data())
@spoiling
def test_mutated_experiment_is_a_manifest_error(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "study.toml"
    path.write_text(spoilt(STUDY, data), encoding="utf-8")
    only_manifest_errors(lambda: load(path))


@given(raw_values)
@example(HUGE_HEX)
@spoiling
def test_settings_have_the_limits_of_records(root: Path, value: str) -> None:
    """Free tables reach digests and databases: what neither can hold is refused where it is written."""
    (root / "task.toml").write_text(TASK.replace("tolerance = 0.1", f"tolerance = {value}"))
    only_manifest_errors(lambda: ingest(read_package(root), HashSink()))


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]\n",
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{n}: &{n} [{', '.join(['*' + b] * 9)}]\n" for b, n in zip("abcdefg", "bcdefgh", strict=True)),
        "repeats: " + "9" * 5_000 + "\n",
        "date: 2026-99-99\n",
        "x: " + "[" * 5_000 + "]" * 5_000 + "\n",
        "repeats: .nan\n",
        "? [a]\n: b\n",
        "1: 2\n",
        "name: !!python/object/apply:os.system ['true']\n",
        "name: \x1b[31m\n",
    ],
)
def test_hostile_yaml_is_a_manifest_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(ManifestError) as caught:
        load(path)
    assert tame(str(caught.value))


def test_number_beyond_64_bits_is_named_with_its_key(root: Path) -> None:
    (root / "task.toml").write_text(
        TASK.replace("time = 60", f"time = {HUGE_HEX}").replace("timeout = 10", "timeout = inf")
    )
    with pytest.raises(FaultyManifest) as caught:
        read_package(root)
    told = {f.key: f.problem for f in caught.value.faults}
    assert told == {
        "environment.limits.time": "is a number beyond 64 bits",
        "grading.program.timeout": "inf is not a finite number",
    }


def test_size_beyond_64_bits_is_refused(root: Path) -> None:
    (root / "task.toml").write_text(TASK.replace("512MiB", "9" * 400 + "TB"))
    with pytest.raises(FaultyManifest, match=r"grading\.program\.memory: .* is not a size"):
        read_package(root)


def test_pipe_in_place_of_a_case_blocks_nobody(root: Path) -> None:
    (root / "cases/wrong/case.toml").unlink()
    os.mkfifo(root / "cases/wrong/case.toml")
    with pytest.raises(FaultyManifest, match="is not a regular file"):
        read_package(root)


def test_file_names_do_not_control_a_terminal(root: Path) -> None:
    (root / "inputs/one/\x1b[31mred").write_text("x")
    (root / "cases/\x1b]0;title\x07").mkdir()
    with pytest.raises(FaultyManifest) as caught:
        read_package(root)
    assert tame(str(caught.value))
    assert "\\x1b[31mred" in str(caught.value)


def test_folder_names_do_not_control_a_terminal(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        read_package(tmp_path / "\x1b[2Jgone")
    assert tame(str(caught.value))
    assert "\\x1b[2Jgone" in str(caught.value)


@pytest.mark.parametrize("name", ["9" * 400, "~nobody-of-that-name/x", "a\0b", "x/" * 3_000])
def test_impossible_names_are_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "study.toml"
    for key in (f"suite = {written(name)}", f"tasks = [{written(name)}]"):
        path.write_text(STUDY.replace('suite = "starter"', key), encoding="utf-8")
        only_manifest_errors(lambda: load(path))
    with pytest.raises(ManifestError):
        find_suite(name)
    with pytest.raises(ManifestError):
        read_package(Path(name))
