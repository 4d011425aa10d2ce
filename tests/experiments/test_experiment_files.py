"""Experiment files: precedence of the command line, and faults with file, key and allowed values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from worksample.errors import ManifestError
from worksample.experiments.config import ExperimentConfig
from worksample.experiments.config_file import load, merge
from worksample.models.duration_text import parse_seconds

BASE: dict[str, Any] = {"name": "x", "suite": "starter", "agents": [{"harness": "scripted"}]}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "name": st.sampled_from(["one", "two", "three"]),
    "store": st.sampled_from(["/a", "/b"]),
    "repeats": st.integers(1, 9),
    "parallel": st.integers(1, 9),
    "graders": st.integers(1, 9),
    "tries": st.integers(1, 9),
    "seed": st.integers(0, 9),
    "protocol": st.sampled_from(["program", "checkpoints", "holistic"]),
    "sandbox": st.sampled_from(["bubblewrap", "none"]),
    "author": st.sampled_from(["ann", "bob"]),
    "only": st.lists(st.sampled_from(["a", "b/*"]), max_size=2),
}
LIMITS = {
    "time": st.integers(1, 99),
    "cost": st.integers(1, 9),
    "tokens": st.integers(1, 9),
    "steps": st.integers(1, 9),
}
some_of = st.fixed_dictionaries({}, optional={**VALUES, "limits": st.fixed_dictionaries({}, optional=LIMITS)})


@given(some_of, some_of)
def test_command_line_overrides_file_overrides_default(in_file: dict[str, Any], in_flags: dict[str, Any]) -> None:
    plain = ExperimentConfig.model_validate(BASE).plain()
    config = ExperimentConfig.model_validate(merge({**BASE, **in_file}, in_flags)).plain()
    for key in VALUES:
        expected = in_flags.get(key, in_file.get(key, plain[key]))
        assert config[key] == expected, key
    for key in LIMITS:
        expected = in_flags.get("limits", {}).get(key, in_file.get("limits", {}).get(key))
        assert config["limits"][key] == expected, key


def written(folder: Path, text: str, name: str = "study.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_yaml_and_toml_are_equivalent(tmp_path: Path) -> None:
    toml = 'suite = "starter"\nrepeats = 3\n[limits]\ntime = "1h30m"\n[[agents]]\nharness = "worker"\nmodel = "a/b"\n'
    as_yaml = yaml.safe_dump(
        {
            "suite": "starter",
            "repeats": 3,
            "limits": {"time": "1h30m"},
            "agents": [{"harness": "worker", "model": "a/b"}],
        }
    )
    first = load(written(tmp_path, toml))
    assert first == load(written(tmp_path, as_yaml, "study.yaml"))
    assert (first.name, first.limits.time) == ("study", 5400)


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path) -> None:
    text = 'tasks = ["work/a"]\nstore = "evidence"\n[[agents]]\nharness = "scripted"\nscript = "scripts/good"\n'
    config = load(written(tmp_path, text))
    assert config.tasks == (str(tmp_path / "work/a"),)
    assert config.store == str(tmp_path / "evidence")
    assert config.agents[0].script == str(tmp_path / "scripts/good")


def test_suite_or_tasks_on_the_command_line_replace_both(tmp_path: Path) -> None:
    file = written(tmp_path, 'suite = "starter"\n[[agents]]\nharness = "worker"\n')
    config = load(file, {"tasks": (str(tmp_path),)})
    assert (config.suite, config.tasks) == (None, (str(tmp_path),))


def test_protocols_on_the_command_line_replace_the_files(tmp_path: Path) -> None:
    file = written(tmp_path, 'suite = "s"\nprotocol = "rubric"\n[[agents]]\nharness = "worker"\n[people]\npay = 30\n')
    assert [p.value for p in load(file).chosen_protocols] == ["rubric"]
    config = load(file, {"protocols": ("holistic", "rubric"), "people": {"pay": 60.0}})
    assert [p.value for p in config.chosen_protocols] == ["holistic", "rubric"]
    assert config.people.pay == 60


def test_models_multiply_the_agents(tmp_path: Path) -> None:
    config = load(None, {"suite": "starter", "agents": [{"harness": "worker"}], "models": ["a/b", "c/d"]})
    assert [a.model for a in config.agents] == ["a/b", "c/d"]
    assert config.name == "starter-worker-b-worker-d"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("repeats = 0\n", ["repeats: 0 is not allowed", "a whole number of at least 1 and of at most 10000"]),
        ("repeat = 2\n", ["repeat: is not a key of this file", "did you mean 'repeats'?", "allowed:"]),
        ('sandbox = "vm"\n', ["sandbox", "bubblewrap", "'vm'"]),
        ("[limits]\nsteps = -1\n", ["limits.steps: -1 is not allowed", "above 0"]),
        ('[limits]\ntime = "soon"\n', ["limits.time", "30m"]),
        ("[limits]\nturns = 5\n", ["limits.turns: is not a key of limits", "steps"]),
        ('protocol = "prose"\n', ["protocol: 'prose' is not allowed", "program, checkpoints, rubric"]),
        ('protocol = "rubric"\nprotocols = ["holistic"]\n', ["either protocol"]),
        ('protocols = ["rubric", "rubric"]\n', ["listed twice"]),
        ("[people]\npay = -1\n", ["people.pay: -1 is not allowed"]),
        ('[[arms]]\nname = "a"\n[[arms]]\nname = "a"\n', ["arms share a name"]),
        ("name = 'A B'\n", ["name: 'A B' is not allowed", "at most 100 of a-z, 0-9 and . _ -"]),
        ('sandbox = "chroot"\n', ["sandbox: 'chroot' is not allowed (allowed: bubblewrap, docker, none)"]),
        ("x = \n", ["is not TOML"]),
    ],
)
def test_faults_name_file_key_and_allowed_values(tmp_path: Path, text: str, says: list[str]) -> None:
    file = written(tmp_path, 'suite = "starter"\nagents = [{harness = "scripted"}]\n' + text)
    with pytest.raises(ManifestError) as caught:
        load(file)
    told = str(caught.value)
    assert str(file) in told
    for word in says:
        assert word in told, told


def test_fault_in_an_agent_names_its_place(tmp_path: Path) -> None:
    file = written(tmp_path, 'suite = "s"\n[[agents]]\nharness = "worker"\n[[agents]]\nharnes = "worker"\n')
    with pytest.raises(
        ManifestError, match=r"agents\[1\]\.harnes: is not a key of agents\[1\]; did you mean 'harness'\?"
    ):
        load(file)


@pytest.mark.parametrize("name", ["a.json", "a.txt"])
def test_other_extensions_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ManifestError, match=r"\.toml, \.yaml or \.yml"):
        load(written(tmp_path, json.dumps(BASE), name))


def test_list_in_place_of_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="keys with values"):
        load(written(tmp_path, "- a\n- b\n", "a.yaml"))


@given(st.integers(0, 50), st.integers(0, 59), st.integers(0, 59))
def test_durations_add_up(hours: int, minutes: int, rest: int) -> None:
    assert parse_seconds(f"{hours}h {minutes}m{rest}s") == hours * 3600 + minutes * 60 + rest
