"""Impossible runs are refused before anything is written, with advice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY, cli, cli_json

GOOD = ("--agent", "scripted", "--script", SCRIPTS / "good")
WORKER = ("--agent", "worker", "--model", "openai/gpt-5")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--suite", TINY, *WORKER, "--limit-cost", 2], ["no price", "--price openai/gpt-5="]),
        (["--suite", TINY, "--agent", "rli", "--model", "openai/gpt-5"], ["no price"]),
        (["--suite", TINY, "--agent", "worker"], ["needs a model", "--model"]),
        (["--suite", TINY, "--agent", "robot"], ["robot", "scripted, worker"]),
        (["--suite", TINY, "--agent", "scripted"], ["--script"]),
        (["--suite", "beginner", *GOOD], ["no suite 'beginner'"]),
        (["--task", TINY / "tasks" / "nothing", *GOOD], ["no such folder", "task new"]),
        (["--suite", TINY, "--only", "sum", *GOOD], ["'sum' matches no instance", "greeting, sums"]),
        (["--suite", TINY, "--protocol", "rubric", *GOOD], ["no grading under protocol rubric; it has: program"]),
        (["--suite", TINY, "--limit-time", "soon", *GOOD], ["limits.time", "30m"]),
        (["--suite", TINY, "--repeats", 0, *GOOD], ["repeats", "1"]),
        (["--suite", TINY, "--task", TINY / "tasks" / "sums", *GOOD], ["several instances share a name"]),
        (["--suite", TINY, *GOOD, *GOOD[:2]], ["several agents share a name"]),
        (["--suite", TINY], ["agents"]),
        ([*GOOD], ["suite or tasks"]),
    ],
)
def test_impossible_plan_is_refused(words, says, tmp_path: Path) -> None:
    done = cli("run", *words, "--store", tmp_path / "s", "--dry-run")
    assert done.returncode == 1, done.stdout
    told = " ".join(done.stderr.split())
    assert "Traceback" not in told
    assert [word for word in says if word not in told] == [], told
    assert not (tmp_path / "s").exists()


def test_price_on_the_command_line_permits_a_budget(tmp_path: Path) -> None:
    words = ("--suite", TINY, *WORKER, "--limit-cost", 2, "--price", "openai/gpt-5=1.25,10")
    shown = cli_json("run", *words, "--dry-run")
    assert shown["forecast"]["cost_at_most"] == 8
    assert shown["config"]["prices"]["openai/gpt-5"]["output"] == 10


def test_missing_sandbox_stops_the_start(tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    done = cli("run", "--suite", TINY, *GOOD, "--store", tmp_path / "s", env={"PATH": str(empty)})
    assert done.returncode == 1
    assert "bubblewrap is not installed" in done.stderr and "apt-get install" in done.stderr
    assert not (tmp_path / "s").exists()
    doctor = cli("doctor", env={"PATH": str(empty)})
    assert doctor.returncode == 1 and "apt-get install" in doctor.stdout


def test_instance_with_unmet_requirements_is_not_attemptable(tmp_path: Path) -> None:
    task = tmp_path / "looking"
    made = cli("task", "new", task)
    assert made.returncode == 0, made.stderr
    manifest = task / "task.toml"
    lines = manifest.read_text().splitlines()
    at = lines.index("[environment]")
    lines = [line for line in lines if not line.startswith("requires")]
    lines.insert(at + 1, 'requires = ["vision"]')
    manifest.write_text("\n".join(lines))
    shown = cli_json("run", "--task", task, *WORKER, "--dry-run")
    assert shown["forecast"]["trials"] == 0
    assert all("vision" in slot["not_attemptable"] for slot in shown["slots"])


def test_invalid_store_is_reported(tmp_path: Path) -> None:
    for words in (["list"], ["report"], ["resume"], ["store", "check"], ["grade"]):
        done = cli(*words, "--store", tmp_path / "none")
        assert done.returncode == 1 and "no store here" in done.stderr, words
        assert "Traceback" not in done.stderr


def test_unknown_experiment_is_reported(tmp_path: Path) -> None:
    from worksample.store import Store

    Store.open(tmp_path / "s", create=True).close()
    done = cli("resume", "nothing", "--store", tmp_path / "s")
    assert done.returncode == 2 and "holds no experiment" in done.stderr


@pytest.mark.parametrize("words", [("run", "--limit-cost", "abc"), ("task", "check", "nope"), ("runn",)])
def test_wrong_call_is_json_if_json_is_requested(words: tuple[str, ...]) -> None:
    done = cli(*words, "--json")
    assert done.returncode == 2
    said = json.loads(done.stdout)["error"]
    assert said["kind"] == "UsageError"
    assert said["what"]
    assert said["next"].endswith("--help")


def test_control_characters_of_a_path_reach_no_terminal(tmp_path: Path) -> None:
    done = cli("run", "--task", tmp_path / "no\x1b]0;evil\x07thing", *GOOD, "--store", tmp_path / "s", "--dry-run")
    assert done.returncode == 1 and "no\N{REPLACEMENT CHARACTER}]0;evil\N{REPLACEMENT CHARACTER}thing" in done.stderr
    assert "\x1b" not in done.stderr and "\x07" not in done.stderr
