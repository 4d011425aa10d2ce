"""Commands that need no sandbox, each on real input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cli.run_cli import TINY, cli, cli_json

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted(p for p in (ROOT / "examples").iterdir() if p.suffix in (".toml", ".yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_every_example_can_be_planned(path: Path, tmp_path: Path) -> None:
    shown = cli_json("run", path, "--dry-run", cwd=tmp_path)
    assert shown["slots"] and shown["forecast"]["trials"] > 0


def test_suite_is_shown_pinned_and_checked_for_changes(tmp_path: Path) -> None:
    suite = tmp_path / "tiny"
    shutil.copytree(TINY, suite)
    shown = cli_json("suite", "show", suite)
    assert [f"{i['task']}/{i['name']}" for i in shown["instances"]] == [
        "greeting/ada",
        "greeting/grace",
        "sums/small",
        "sums/large",
    ]
    assert "not pinned" in cli("suite", "show", suite).stdout
    assert cli("suite", "pin", suite).returncode == 0
    assert "pinned by" in cli("suite", "show", suite).stdout
    brief = suite / "tasks" / "greeting" / "brief.md"
    brief.write_text(brief.read_text() + "\nBe quick.\n")
    changed = cli("suite", "show", suite)
    assert changed.returncode == 1 and "greeting" in changed.stderr and "suite pin" in changed.stderr
    assert "starter" in cli("suite", "show").stdout.split()


def test_tasks_are_listed_and_shown(tmp_path: Path) -> None:
    listed = cli_json("task", "list", TINY)
    assert [t["id"] for t in listed["tasks"]] == ["greeting", "sums"]
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "task.toml").write_text("id = 3\n")
    assert [b["folder"] for b in cli_json("task", "list", tmp_path)["broken"]] == [str(tmp_path / "odd")]
    text = cli("task", "show", TINY / "tasks" / "sums").stdout
    for word in ("Add up a list of items", "total.json", "The sum is right.", "Deliverables", "small", "large"):
        assert word in text
    assert cli_json("task", "show", TINY / "tasks" / "sums")["task"]["name"] == "sums"
    prompts = cli_json("task", "show", TINY / "tasks" / "sums", "--prompt", "--agent", "rli", "--instance", "small")
    assert list(prompts["prompts"]) == ["small"] and "your auxiliary folder" in prompts["prompts"]["small"][0]


def test_names_in_files_cannot_control_the_terminal(tmp_path: Path) -> None:
    task = tmp_path / "sums"
    shutil.copytree(TINY / "tasks" / "sums", task)
    manifest = task / "task.toml"
    manifest.write_text(manifest.read_text().replace("Add up a list", "Add \\u001b[31mup[/bold] a list"))
    text = cli("task", "show", task, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[31mup" not in text and "up[/bold] a list" in text


def test_store_is_checked_rebuilt_merged_and_read(tmp_path: Path) -> None:
    from worksample.experiments.package_intake import ingest_package
    from worksample.store import Store

    for name, task in (("a", "greeting"), ("b", "sums")):
        with Store.open(tmp_path / name, create=True) as store:
            instance = ingest_package(store, TINY / "tasks" / task).instances[0]
            ingest_package(store, TINY / "tasks" / task)
    a, b = ("--store", tmp_path / "a"), ("--store", tmp_path / "b")
    assert cli_json("store", "merge", tmp_path / "b", *a)["taken"] == 1
    assert cli_json("store", "merge", tmp_path / "b", *a)["taken"] == 0
    before = cli_json("store", "rebuild", *a)["records"]
    assert before == 6
    assert cli_json("store", "check", "--deep", *a) == []
    digest = instance.work.inputs
    shown = cli("store", "cat", digest, *b)
    assert json.loads(shown.stdout)["entries"][0]["path"] == "items.csv"
    (tmp_path / "b" / "blobs" / digest[:2] / digest).unlink()
    faults = cli_json("store", "check", *b, code=3)
    assert any(digest in fault["where"] + fault["what"] for fault in faults)
    [_] = [p for p in map(Path, cli_json("store", "export", tmp_path / "x", *a)) if p.name == "trials.parquet"]


@pytest.mark.tac
def test_tac_tasks_are_listed_and_imported(tmp_path: Path) -> None:
    names = cli_json("import", "tac", "--list")
    assert "ds_sql_exercise" in names
    [made] = cli_json("import", "tac", tmp_path / "out", "--task", "ds_sql_exercise")["written"]
    assert Path(made["package"]).is_dir()
    unknown = cli_json("import", "tac", tmp_path / "out", "--task", "no_such_task", code=2)
    assert "no_such_task" in unknown["error"]["what"]
