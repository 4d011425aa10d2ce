"""The main workflow on the command line in real sandboxes: run, list, report, grade, submit, amend, resume."""

from __future__ import annotations

import json
import shutil
import signal
import time
import zipfile
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY, cli, cli_json, start

pytestmark = [pytest.mark.box, pytest.mark.long]


def run_tiny(store: Path, *more: object, script: str = "good", code: int = 0):
    return cli_json(
        "run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / script, "--store", store, *more, code=code
    )


def test_run_list_report_and_run_again_work(tmp_path: Path) -> None:
    store = tmp_path / "store"
    done = run_tiny(store, "--name", "first")
    assert (done["planned"], done["finished"], done["graded"], done["open"]) == (4, 4, 4, 0)
    assert done["complete"] and done["cost"] == 0 and done["unpriced"] == 0
    [listed] = cli_json("list", "--store", store)
    assert listed["experiment"] == done["experiment"]
    lock = json.loads((store / "experiments" / done["experiment"] / "lock.json").read_text())
    assert lock["versions"]["inspect_ai"] and len(lock["instances"]) == 4 and lock["config"]["name"] == "first"

    board = cli_json("report", "first", "--store", store, "--out", tmp_path / "report")
    assert board["rows"][0]["passed"]["value"] == 1
    assert Path(board["report"]).is_file()

    trials = sorted(p.name for p in (store / "records").rglob("*") if p.is_file())
    again = run_tiny(store, "--name", "first")
    assert again["experiment"] == done["experiment"]
    assert sorted(p.name for p in (store / "records").rglob("*") if p.is_file()) == trials
    assert cli("store", "check", "--deep", "--store", store).stdout.strip() == "sound"


@pytest.mark.thorough(quick="cli/test_main_workflow.py::test_run_list_report_and_run_again_work")
def test_bad_work_is_graded_and_output_is_readable(tmp_path: Path) -> None:
    words = ("run", "--suite", TINY, "--only", "sums/*", "--agent", "scripted", "--script", SCRIPTS / "bad")
    done = cli(*words, "--store", tmp_path / "s")
    assert done.returncode == 0, done.stderr
    assert "sums/small  bad  done" in done.stderr and "score 0.250" in done.stderr
    assert "worksample report tiny-scripted" in done.stdout


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    words = ("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "good", "--repeats", 2)
    shown = cli_json(*words, "--store", tmp_path / "s", "--dry-run")
    assert len(shown["slots"]) == 8 and shown["forecast"]["cost_at_most"] == 0
    assert not (tmp_path / "s").exists()


def test_dry_run_counts_finished_work(tmp_path: Path) -> None:
    store, only = tmp_path / "store", ("--only", "sums/*", "--name", "study")
    done = run_tiny(store, *only)["finished"]
    shown = run_tiny(store, *only, "--dry-run")
    rest = dict.fromkeys(("open", "not_attemptable", "waits_for_people", "waits_for_judge", "ungraded"), 0)
    assert shown["standing"] == {"planned": done, "done": done, **rest}
    assert shown["forecast"]["trials"] == 0 and shown["forecast"]["seconds_at_most"] == 0
    words = ("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "good", "--store", store, *only)
    again = cli(*words, "--dry-run", "--repeats", 2)
    assert f"done already: 0 of {2 * done} slots; open: {2 * done}" in again.stderr
    assert "the name study is also used by study@" in again.stderr


def test_ctrl_c_keeps_finished_work_and_resume_continues(tmp_path: Path) -> None:
    store = tmp_path / "store"
    words = ("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "slow", "--store", store)
    running = start(*words)
    until = time.monotonic() + 180
    while not list((store / "logs").glob("*/*.eval")) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=180)
    assert running.returncode == 130, err
    assert "stopping" in err and "worksample resume tiny-scripted" in out and "Traceback" not in err
    assert cli("store", "check", "--store", store).stdout.strip() == "sound"
    done = cli_json("resume", "tiny-scripted", "--store", store)
    assert (done["finished"], done["graded"], done["open"]) == (4, 4, 0)


@pytest.mark.thorough(quick="runs/test_trial_in_box.py::test_two_concurrent_runs_do_every_slot_once")
def test_two_concurrent_runs_share_the_work_and_double_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    words = ("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "good", "--repeats", 3)
    both = [start(*words, "--store", store, "--parallel", 2, "--json") for _ in range(2)]
    told = [process.communicate(timeout=120) for process in both]
    assert [p.returncode for p in both] == [0, 0], told
    export = tmp_path / "export"
    cli("store", "export", export, "--format", "jsonl", "--store", store)
    slots = [json.loads(line)["slot"] for line in (export / "trials.jsonl").read_text().splitlines()]
    subjects = [json.loads(line)["submission"] for line in (export / "evaluations.jsonl").read_text().splitlines()]
    assert len(slots) == len(set(slots)) == 12
    assert len(subjects) == len(set(subjects)) == 12


@pytest.mark.thorough(quick="experiments/test_regrade.py::test_complete_regrade_is_adopted_with_author_and_reason")
def test_new_grader_regrades_and_new_work_is_refused(tmp_path: Path) -> None:
    store, suite = tmp_path / "store", tmp_path / "tiny"
    shutil.copytree(TINY, suite)
    cli_json("run", "--suite", suite, "--agent", "scripted", "--script", SCRIPTS / "bad", "--store", store)
    criteria = suite / "tasks" / "sums" / "criteria.toml"
    criteria.write_text(criteria.read_text().replace("points = 3", "points = 1"))
    graded = cli_json("grade", "--task", suite / "tasks" / "sums", "--reason", "half each", "--store", store)
    assert graded["graded"] == 4
    changed = {c["instance"].partition("@")[0]: (c["old"], c["new"]) for c in graded["changes"]}
    assert changed == {"sums/small": (0.25, 0.5), "sums/large": (0, 0)}
    [listed] = cli_json("list", "--store", store)
    assert listed["graded"] == 4

    brief = suite / "tasks" / "sums" / "brief.md"
    brief.write_text(brief.read_text().replace("Count", "Please count"))
    refused = cli_json("grade", "--task", suite / "tasks" / "sums", "--store", store, code=1)
    assert "new work" in refused["error"]["what"] and "sums/small" in refused["error"]["what"]


def test_work_made_elsewhere_is_submitted_and_graded(tmp_path: Path) -> None:
    store, archive = tmp_path / "store", tmp_path / "work.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("total.json", '{"count": 2, "total": 7}')
    words = ("submit", archive, "--task", TINY / "tasks" / "sums", "--entrant", "Ada", "--origin", "person")
    wrong = cli_json(*words, "--store", store, code=2)
    assert "small, large" in wrong["error"]["what"]
    done = cli_json(*words, "--instance", "small", "--minutes", 12, "--cost", "unknown", "--store", store)
    assert done["submission"]["reported"] == {"cost": None, "minutes": 12.0}
    assert done["evaluation"]["payload"]["score"] == 1
    again = cli_json("grade", "--submission", done["submission"]["id"], "--store", store)
    assert (again["graded"], again["changes"]) == (1, [])


def test_struck_trial_reopens_its_slot(tmp_path: Path) -> None:
    store = tmp_path / "store"
    run_tiny(store, "--only", "greeting/ada")
    cli("store", "export", tmp_path / "x", "--format", "jsonl", "--store", store)
    [trial] = [json.loads(line)["trial"] for line in (tmp_path / "x" / "trials.jsonl").read_text().splitlines()]
    cli_json("amend", "strike", "trial", trial, "--reason", "the network of the lab was down", "--store", store)
    [listed] = cli_json("list", "--store", store)
    assert (listed["finished"], listed["open"]) == (0, 1)
    missing = cli_json("amend", "strike", "trial", "nobody", "--reason", "x", "--store", store, code=1)
    assert missing["error"]["kind"] == "RecordMissing"
    done = cli_json("resume", "--store", store)
    assert (done["finished"], done["graded"], done["open"]) == (1, 1, 0)


@pytest.mark.thorough(quick="runs/test_trial_evidence.py::test_unsandboxed_trial_works_and_is_marked")
def test_unsandboxed_run_is_marked_everywhere(tmp_path: Path) -> None:
    store = tmp_path / "store"
    words = ("run", "--suite", TINY, "--only", "greeting/ada", "--agent", "scripted", "--script", SCRIPTS / "good")
    done = cli(*words, "--unsandboxed", "--store", store)
    assert done.returncode == 0, done.stderr
    assert "UNSANDBOXED" in done.stderr
    assert "UNSANDBOXED" in cli("list", "--store", store).stdout
    assert "without a sandbox" in cli("report", "--store", store).stdout
