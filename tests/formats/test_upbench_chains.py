"""UpBench's own study as tables: the published counts give its Table 3, with attempts imported together or apart."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import cli, cli_json
from worksample import metrics as m
from worksample.errors import FaultyRows, PlanError
from worksample.formats.upbench import Tables, import_upbench, write_tables
from worksample.formats.upbench.table_export import tables_of
from worksample.formats.upbench.tables import complete_tables, differing_columns
from worksample.records import Evaluation, Experiment, Slot, Submission, Trial, Usage
from worksample.reports.sections import MeasureConfig, Section, measure
from worksample.store import Store, check
from worksample.tasks import read_suite
from worksample.tasks.taxonomy import slug

PAPER = {
    "Claude Sonnet 4": ((128, 159, 37), ("0.398", "0.512", "0.115", "0.289", "0.233")),
    "Gemini 2.5 Pro": ((64, 222, 40), ("0.199", "0.323", "0.124", "0.625", "0.180")),
    "GPT-5": ((63, 237, 45), ("0.196", "0.335", "0.140", "0.714", "0.190")),
}
"""Agent -> (passed at first, tried again, rescued), and its row of Table 3."""
START = datetime(2025, 3, 1, tzinfo=UTC)
RUBRIC = [{"criterion": "Has what was asked for", "importance": "critical"}]
Counts = Mapping[str, tuple[int, int, int]]


def tables(jobs: int, counts: Counts, attempts: tuple[int, ...] = (1, 2)) -> Tables:
    """Return tables with the submissions of these attempts. Jobs are in the order of their outcomes."""
    submissions, evaluations = [], []
    for agent, (passed, again, rescued) in counts.items():
        for n in range(jobs):
            for k in attempts:
                if k == 2 and not passed <= n < passed + again:
                    continue
                id = f"{agent.partition(' ')[0]}-{n}-{k}"
                won = n < passed if k == 1 else n < passed + rescued
                mark = "pass" if won else "fail"
                submissions.append({
                    "submission_id": id, "contract_id": f"job-{n}", "agent_id": agent, "k": k, "duration": 60.0,
                    "deliverables": ["x.txt"], "submission_ts": START + timedelta(days=k), "is_successful_run": True,
                })  # fmt: skip
                evaluations.append({
                    "evaluation_id": id, "contract_id": f"job-{n}", "submission_id": id, "evaluator_id": "eva",
                    "submission_feedback": [{**RUBRIC[0], "judgment": mark}], "judgement": mark,
                    "is_successful_run": True,
                })  # fmt: skip
    projects = [
        {"contract_id": f"job-{n}", "start_ts": START, "job_description": f"Write {n}.", "contract_amount": 90.0,
         "acceptance_criteria": RUBRIC} for n in range(jobs)
    ]  # fmt: skip
    return complete_tables(
        {
            "projects": projects, "qualifications": [], "submissions": submissions, "evaluations": evaluations,
            "evaluators": [{"evaluator_id": "eva", "registration_ts": START, "is_human": True, "name": "Eva"}],
            "agents": [{"agent_id": a, "is_human": False, "name": a} for a in counts],
        }
    )  # fmt: skip


def measure_imports(folder: Path, *deliveries: Tables) -> dict[str, Section]:
    """Import the tables one after another; return the figures of the store."""
    with Store.open(folder / "store", create=True) as store:
        for n, each in enumerate(deliveries):
            write_tables(each, folder / f"tables-{n}", "jsonl")
            import_upbench(store, folder / f"tables-{n}", folder / "jobs")
        found = measure(store, store.find(Experiment), MeasureConfig(how=m.Resampling(resamples=20)))
        assert [s.fault for s in found if s.fault] == []
        return {s.id: s for s in found}


def values(section: Section) -> dict[str, list[Any]]:
    return {row.label: [getattr(c, "exact", c) or getattr(c, "value", c) for c in row.cells] for row in section.rows}


def test_chains_across_two_imports_are_joined(tmp_path: Path) -> None:
    """A later import brings re-attempts of earlier jobs, and new jobs."""
    counts = {"ann": (3, 4, 2), "bob": (2, 5, 1)}
    whole = tables(9, counts)
    late = [s for s in whole["submissions"] if s["k"] == 2 or s["contract_id"] == "job-8"]
    gone = {s["submission_id"] for s in late}
    first = {
        **whole,
        "projects": [p for p in whole["projects"] if p["contract_id"] != "job-8"],
        "submissions": [s for s in whole["submissions"] if s["submission_id"] not in gone],
        "evaluations": [e for e in whole["evaluations"] if e["submission_id"] not in gone],
    }
    once, twice = measure_imports(tmp_path / "once", whole), measure_imports(tmp_path / "twice", first, whole)
    assert set(once) == set(twice)
    for name in ("lifts", "performance", "within-k", "attempt-change", "feedback", "feedback-cost"):
        assert values(once[name]) == values(twice[name]), name
    assert values(twice["lifts"])["ann (feedback)"][1] is not None


def test_imported_and_own_experiment_are_not_one_study(tmp_path: Path) -> None:
    measure_imports(tmp_path, tables(3, {"ann": (1, 1, 1)}))
    with Store.open(tmp_path / "store") as store:
        [imported] = store.find(Experiment)
        own = imported.replaced(
            id="own",
            name="own",
            lock=imported.lock.replaced(sandbox="bubblewrap", instances=imported.lock.instances[:1]),
        )
        store.commit(own)
        with pytest.raises(PlanError, match="planned with different settings"):
            measure(store, [imported, own])


@pytest.mark.thorough(quick="formats/test_upbench_chains.py::test_chains_across_two_imports_are_joined")
@pytest.mark.parametrize("apart", [False, True])
def test_published_counts_imported_as_tables_give_table_3(tmp_path: Path, apart: bool) -> None:
    counts = {agent: made for agent, (made, _) in PAPER.items()}
    whole = tables(322, counts)
    measure_imports(tmp_path, *((tables(322, counts, (1,)), whole) if apart else (whole,)))
    with Store.open(tmp_path / "store") as store:
        names = [e.id for e in store.find(Experiment)]
    words = ("metrics", *names, "--only", "performance", "--store", tmp_path / "store")
    [table] = cli_json(*words)
    assert table["columns"] == ["P1", "P Overall", "Abs Lift", "Relative Lift", "Rescue Rate"]
    found = {row["label"].partition(" (")[0]: tuple(cell["printed"] for cell in row["cells"]) for row in table["rows"]}
    assert found == {slug(agent): printed for agent, (_, printed) in PAPER.items()}


@pytest.mark.parametrize("point", ["import.package:kill", "import.package:kill:4", "store.object:kill"])
def test_killed_import_is_completed_by_the_next(tmp_path: Path, point: str) -> None:
    """An import killed while it writes packages leaves no record; killed at the commit, all or none. The next one
    completes it.
    """
    whole, where = tables(6, {"ann": (2, 3, 1)}), tmp_path / "store"
    Store.open(where, create=True).close()
    write_tables(whole, tmp_path / "t", "csv")
    words = ("import", "upbench", tmp_path / "t", tmp_path / "jobs", "--store", where)
    assert cli(*words, env={"WORKSAMPLE_FAULT": point}).returncode == -9
    with Store.open(where) as store:
        assert len(store.find(Submission)) in ({0} if "package" in point else {0, 9})
        assert check(store, deep=True) == []
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    with Store.open(where) as store:
        assert (len(store.find(Submission)), len(store.find(Evaluation))) == (9, 9)
        assert check(store, deep=True) == []
    assert len(read_suite(tmp_path / "jobs", verify=False).packages) == 6


ARMS = (("experts", "people", 2), ("alone", "retry", 4))
"""Name, feedback, and from which attempt the fourth job passes."""


def tables_with_arms(jobs: int = 12) -> Tables:
    """Return a study of two arms and up to three attempts: a third of the jobs passes at once."""
    made = tables(jobs, {"ann": (jobs // 3, 0, 0)}, (1,))
    evaluations = {e["submission_id"]: e for e in made["evaluations"]}
    for submission in list(made["submissions"]):
        used = Usage(calls=2, input_tokens=10, output_tokens=5, cost=1.5, priced=True)
        submission |= {
            "arm": "first",
            "arm_feedback": "none",
            "repeat": 1,
            "steps": 2,
            "usage": {"agent": used.plain()},
        }
        n = int(str(submission["submission_id"]).split("-")[1])
        evaluations[submission["submission_id"]]["minutes"] = 10.0
        for arm, kind, passes in ARMS if n >= jobs // 3 else ():
            for k in (2, 3):
                if k == 3 and n % 2 and passes == 2:
                    continue
                id = f"ann-{n}-{k}-{arm}"
                mark = "pass" if k >= passes + (n % 2 == 0) else "fail"
                made["submissions"].append({
                    **submission, "submission_id": id, "k": k, "submission_ts": START + timedelta(days=k),
                    "arm": arm, "arm_feedback": kind, "arm_continues": "first",
                })  # fmt: skip
                made["evaluations"].append({
                    **evaluations[submission["submission_id"]], "evaluation_id": id, "submission_id": id,
                    "submission_feedback": [{**RUBRIC[0], "judgment": mark}], "judgement": mark,
                })  # fmt: skip
    return complete_tables(made)


def test_arms_and_attempts_keep_their_figures_on_a_round_trip(tmp_path: Path) -> None:
    whole = tables_with_arms()
    found = measure_imports(tmp_path / "a", whole)
    assert {label: cells[0] for label, cells in values(found["feedback"]).items()} == {
        "ann (alone)": 0.0, "ann (experts)": 1.0,
    }  # fmt: skip
    assert values(found["attempt-change"])["ann (experts)"] == pytest.approx([4 / 12, 8 / 12])
    assert values(found["feedback-cost"])["ann (alone)"][1] == pytest.approx((4 * 1 + 8 * 3) * 1.5 / 12)
    with Store.open(tmp_path / "a/store") as store:
        out, _ = tables_of(store)
        [experiment] = store.find(Experiment)
        told = {s.arm: t.fed for t in store.find(Trial) if t.fed for s in [store.get(Slot, t.slot)]}
    assert {arm.name: (arm.feedback.value, arm.continues) for arm in experiment.arms} == {
        "first": ("none", None), "experts": ("people", "first"), "alone": ("retry", "first"),
    }  # fmt: skip
    # A retry is told nothing of what evaluators said.
    assert told["experts"].evaluations and not told["alone"].evaluations
    pairs = zip(out["submissions"], whole["submissions"], strict=True)
    assert [names for one, other in pairs if (names := differing_columns(one, other))] == []
    again = measure_imports(tmp_path / "b", out)
    assert set(again) == set(found)
    for name in found:
        assert values(again[name]) == values(found[name]), name


@pytest.mark.parametrize("cells, fault", [
    ({"arm_feedback": "shouting"}, "arm_feedback: 'shouting' is none of none, retry, generic, people"),
    ({"arm": None}, "arm_feedback: the row names no arm"),
    ({"arm": "a b\n"}, "is not a name of an arm"),
    ({"arm_feedback": "none"}, "arm_continues: an arm without feedback continues no other"),
    ({"arm_continues": "experts"}, "arm_continues: an arm cannot continue itself"),
    ({"arm_continues": "alone"}, "makes no first attempts"),
    ({"arm_feedback": "judge"}, "experts has another feedback"),
    ({"k": 1}, "arm: first attempts belong to an arm without feedback"),
    ({"repeat": 0}, "repeat: must be 1 to 10000"),
    ({"steps": -1}, "steps: is below 0"),
    ({"usage": {"agent": {"calls": -1}}}, "usage: calls"),
    ({"usage": {"agent": {"calls": 10**30}}}, "usage: a number is above"),
    ({"usage": ["agent"]}, "usage: is not a table"),
])  # fmt: skip
def test_faulty_cell_about_an_arm_is_named(tmp_path: Path, cells: dict[str, Any], fault: str) -> None:
    made = tables_with_arms(6)
    row = next(s for s in reversed(made["submissions"]) if s["arm"] == "experts")
    row |= cells
    write_tables(made, tmp_path / "t", "jsonl")
    with Store.open(tmp_path / "store", create=True) as store:
        with pytest.raises(FaultyRows) as caught:
            import_upbench(store, tmp_path / "t", tmp_path / "jobs")
        assert fault in " ".join(caught.value.faults.values())
        assert not store.find(Submission)
