"""A newcomer's first commands: the demos, and a new task from nothing to a report."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from cli.run_cli import cli, cli_json
from worksample.cli.demo_studies import EXAM_TASKS
from worksample.records import Evaluation, Experiment, GradePayload, Instance, Slot, Submission, Trial
from worksample.store import Store

pytestmark = [pytest.mark.box, pytest.mark.long]


SOME = ("*/voicemail", "*/rounding", "*/grant", "*/lantern", "*/shop")
"""A sound, code, a form, a drawing, a database."""


@pytest.mark.parametrize(
    "only",
    [
        pytest.param(SOME, id="some"),
        pytest.param(
            (),
            id="all",
            marks=pytest.mark.thorough(
                quick="cli/test_newcomer.py::test_demo_distinguishes_good_from_bad_agents[some]"
            ),
        ),
    ],
)
@pytest.mark.long(seconds=60)
def test_demo_distinguishes_good_from_bad_agents(tmp_path: Path, only: tuple[str, ...]) -> None:
    shown = cli_json("demo", *(word for one in only for word in ("--only", one)), cwd=tmp_path)
    rows = {row["name"]: row for row in shown["rows"]}
    assert len(rows) >= 3
    assert all(row["valid"] == row["planned"] == (len(only) or 24) for row in rows.values())
    assert rows["good"]["passed"]["value"] == 1
    assert all(row["passed"]["value"] == 0 for name, row in rows.items() if name != "good")
    assert Path(shown["report"]) == tmp_path / "worksample-demo" / "report" / "index.html"
    assert Path(shown["report"]).is_file()


@pytest.mark.parametrize(
    "only",
    [
        pytest.param(("egress-time/office", "log-rates/shop"), id="some"),
        pytest.param(
            (),
            id="all",
            marks=pytest.mark.thorough(
                quick="cli/test_newcomer.py::test_exam_demo_puts_half_right_work_between_good_and_bad[some]"
            ),
        ),
    ],
)
@pytest.mark.long(seconds=120)
def test_exam_demo_puts_half_right_work_between_good_and_bad(tmp_path: Path, only: tuple[str, ...]) -> None:
    shown = cli_json("demo", "exam", *(word for one in only for word in ("--only", one)), cwd=tmp_path)
    rows = {row["name"]: row for row in shown["rows"]}
    many = len(only) or len(EXAM_TASKS) - (which("soffice") is None)
    assert all(row["valid"] == row["planned"] == many for row in rows.values())
    assert rows["good"]["passed"]["value"] == 1
    assert rows["half"]["passed"]["value"] == rows["bad"]["passed"]["value"] == 0
    assert rows["bad"]["score"]["value"] == 0 < rows["half"]["score"]["value"] < 1


@pytest.mark.thorough(quick="experiments/test_chains.py::test_boards_and_figures_separate_arms_and_attempts")
@pytest.mark.long(seconds=120)
def test_feedback_demo_distinguishes_experts_from_no_feedback(tmp_path: Path) -> None:
    shown = cli_json("demo", "feedback", cwd=tmp_path)
    rows = {row["name"]: row for row in shown["rows"]}
    assert rows["clerk (first, attempt 1)"]["planned"] == 6
    assert rows["clerk (experts, attempt 3)"]["passed"]["value"] == 1
    assert rows["clerk (alone, attempt 3)"]["passed"]["value"] == 0
    page = Path(shown["report"])
    assert page == tmp_path / "worksample-demo" / "feedback" / "report" / "index.html"
    assert "What feedback adds to a re-attempt" in "".join(p.read_text() for p in page.parent.rglob("*.html"))
    found = cli_json("metrics", "feedback", "--store", shown["store"], cwd=tmp_path)
    [funnel] = [s for s in found if s["id"].startswith("qualification")]
    steps = {row["label"].strip(): int(row["cells"][0]) for row in funnel["rows"]}
    assert (steps["rows of the list"], steps["left out: not fixed-price"], steps["qualified"]) == (9, 1, 6)
    assert (steps["context complete"], steps["no identifiers"]) == (1, 1)
    assert steps["the two differed: a third decided or will"] == 1
    assert_economics_follow_from_records(Path(shown["store"]), {s["id"]: s for s in found})
    sections = {s["id"] for s in found}
    assert "feedback-regions" in sections
    assert {"value", "feedback", "feedback-cost", "feedback-pays", "attempt-change", "lifts", "within-k"} <= sections


def assert_economics_follow_from_records(where: Path, found: dict[str, Any]) -> None:
    """Recompute cost, success and captured value of each arm from trials, evaluations and slots, without any report."""
    began = datetime.now(UTC)
    with Store.open(where) as store:
        [experiment] = store.find(Experiment)
        slots, price = {s.id: s for s in store.find(Slot)}, {i.id: i.about.value for i in store.find(Instance)}
        slot_of = {t.id: slots[t.slot] for t in store.find(Trial, live=True)}
        work = {s.id: slot_of[s.trial] for s in store.find(Submission) if s.trial in slot_of}
        given = [e for e in store.find(Evaluation) if e.subject in work]
    assert {e.minutes for e in given} == {10.0} and max(e.at for e in given) < began
    passed = {work[e.subject].id: isinstance(e.payload, GradePayload) and e.payload.score == 1.0 for e in given}
    assert experiment.lock.chain is not None
    pay = experiment.lock.chain.pay or 0.0
    columns, rows = found["value"]["columns"], found["value"]["rows"]
    table = {row["label"]: dict(zip(columns, row["cells"], strict=True)) for row in rows}
    ways = {"experts": "AI with feedback", "alone": "AI with retries, without feedback"}
    for arm, way in ways.items():
        chains: dict[str, list[Slot]] = {}
        for slot in sorted(work.values(), key=lambda s: s.attempt):
            if slot.arm in ("first", arm):
                chains.setdefault(slot.instance, []).append(slot)
        # The last grading of a chain led to no other attempt.
        cost = sum(10 / 60 * pay * (len(chain) - 1) for chain in chains.values()) / len(chains)
        won = [job for job, chain in chains.items() if passed[chain[-1].id]]
        line = table[f"clerk ({arm}): {way}"]
        assert line["cost per job"]["value"] == pytest.approx(cost)
        assert line["success"]["value"] == pytest.approx(len(won) / len(chains))
        worth = [value for job in won if (value := price[job])]
        assert line["value captured"]["value"] == pytest.approx(sum((v.low + v.high) / 2 for v in worth))
    # Both arms pay for gradings; only feedback earns more, so the control costs at least as much and captures less.
    experts, alone = (table[f"clerk ({arm}): {way}"] for arm, way in ways.items())
    assert experts["cost per job"]["value"] <= alone["cost per job"]["value"] == pytest.approx(10.0)
    assert experts["value captured"]["value"] > alone["value captured"]["value"]


@pytest.mark.thorough(
    quick="repo/test_doc_snippets.py::test_commands_of_a_page_can_be_typed[docs/tutorials/own-task.md]"
)
@pytest.mark.long(seconds=70)
def test_new_task_reaches_a_report(tmp_path: Path) -> None:
    def step(*words: object) -> str:
        done = cli(*words, cwd=tmp_path)
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    step("task", "new", "my-task")
    assert "passed" in step("task", "check", "my-task")
    board = step("run", "--task", "my-task", "--agent", "scripted", "--script", "my-task/scripts/good")
    assert "100.0 %" in board
    step("report", "--out", "report")
    assert (tmp_path / "report" / "index.html").is_file()
    assert "0 changed" in step("grade", "--task", "my-task")

    reference = next(p for p in (tmp_path / "my-task" / "reference").rglob("*") if p.is_file())
    reference.unlink()
    broken = cli("task", "check", "my-task", cwd=tmp_path)
    assert broken.returncode == 1 and "NOT PASSED" in broken.stdout and "next: " in broken.stdout
