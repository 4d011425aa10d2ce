"""Arguments of `ws.run` as an experiment's configuration, and agents that are objects."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import worksample as ws
from python_api.agents_by_hand import TINY, adder, helper
from worksample.agents import define
from worksample.agents.python_objects import find_object, offer, settings_with_source
from worksample.errors import ManifestError, PlanError, UsageError
from worksample.python_api.run_config import config_of

SUMS = TINY.parent / "tasks" / "sums"


def test_tasks_are_a_suite_folders_or_packages(tmp_path: Path) -> None:
    assert config_of("starter", "worker", None, {"model": "m/one"}).suite == "starter"
    assert config_of(TINY, adder, None, {}).suite == str(TINY)
    for tasks in (SUMS, str(SUMS), ws.task(SUMS), [SUMS]):
        assert config_of(tasks, adder, None, {}).tasks == (str(SUMS),)
    with pytest.raises(UsageError, match="int is not a task"):
        config_of([3], adder, None, {})


async def no_work() -> None:
    """Takes nothing, so it can be given no work."""


def test_impossible_arguments_are_refused_plainly() -> None:
    with pytest.raises(UsageError, match="no_work cannot be called with an Assignment as its only argument") as told:
        config_of("starter", no_work, None, {})
    assert told.value.next == "async def no_work(work: worksample.Assignment)"
    with pytest.raises(UsageError, match="limits is 5, not a table"):
        config_of("starter", "worker", None, {"limits": 5})
    with pytest.raises(UsageError, match="has no argument modle") as told:
        config_of("starter", "worker", None, {"modle": "openai/gpt-5"})
    assert told.value.next == "model='openai/gpt-5'"
    with pytest.raises(ManifestError, match=r"the call: limits\.time: .x. is not a duration"):
        config_of("starter", "worker", None, {"limits": {"time": "x"}})


def test_calls_name_arguments_and_files_name_keys(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"the call: limit: is not an argument; did you mean 'limits'\?"):
        config_of("starter", "worker", None, {"limit": 5})
    (tmp_path / "study.toml").write_text('suite = "starter"\nlimit = 5\n')
    with pytest.raises(ManifestError, match=r"limit: is not a key of this file; did you mean 'limits'\?"):
        config_of(None, None, tmp_path / "study.toml", {})


def test_every_agent_meets_every_model(tmp_path: Path) -> None:
    config = config_of(
        "starter", ["worker", adder, {"harness": "worker", "name": "mine"}], None, {"model": ["a/x", "a/y"]}
    )
    assert [(a.harness, a.name, a.model) for a in config.agents] == [
        ("worker", None, "a/x"), ("worker", None, "a/y"),
        ("object", "adder-x", "a/x"), ("object", "adder-y", "a/y"),
        ("worker", "mine", "a/x"), ("worker", "mine", "a/y"),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="int is not an agent"):
        config_of("starter", 7, None, {})
    with pytest.raises(UsageError, match="is not async"):
        config_of("starter", lambda work: None, None, {})


def test_settings_are_keys_of_an_experiment_file_and_override_it(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('suite = "starter"\nrepeats = 3\nseed = 5\n[[agents]]\nharness = "worker"\nmodel = "a/x"\n')
    config = config_of(None, None, file, {"repeats": 2, "store": tmp_path / "s", "limits": {"cost": 1.0}})
    assert (config.name, config.repeats, config.seed, config.limits.cost) == ("study", 2, 5, 1.0)
    assert config.store == str(tmp_path / "s")
    with pytest.raises(ManifestError, match="repeat"):
        config_of("starter", "worker", None, {"repeat": 2})


def test_changed_code_is_another_agent_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    module = ModuleType("written_by_hand")
    exec("async def mine(work):\n    return 1\n", module.__dict__)
    monkeypatch.setitem(sys.modules, "written_by_hand", module)
    first = settings_with_source({"object": "written_by_hand:mine"})
    assert find_object(first["object"], first["source"]) is module.mine
    exec("async def mine(work):\n    return 2\n", module.__dict__)
    with pytest.raises(PlanError, match="has changed since the run was planned"):
        find_object(first["object"], first["source"])
    assert settings_with_source({"object": "written_by_hand:mine"})["source"] != first["source"]


def test_missing_agent_names_the_next_step() -> None:
    for name, said in (("helper", "passed as a Python object"), ("nowhere:mine", "cannot be imported")):
        with pytest.raises(PlanError, match=said) as failed:
            find_object(name, "0" * 64)
        assert "worksample.run" in failed.value.next
    with pytest.raises(PlanError, match="object"):
        define("x", harness="object")


def test_inspect_objects_name_their_constructor() -> None:
    settings = offer(helper(prompt="Add up."))
    assert settings["args"] == {"prompt": "Add up."} and ":" not in settings["object"]
    by_name = define(
        "x", harness="object", settings={"object": "python_api.agents_by_hand:helper", "args": {"prompt": "p"}}
    )
    assert len(by_name.settings["source"]) == 64
