"""From a list of jobs to tasks: import, screening, experts over the app's API, funnel, suite of qualified jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import cli, cli_json
from formats.job_rows import row, write_csv
from worksample.app.judging.scripted_experts import ScriptedExperts
from worksample.extras import lacks
from worksample.people.rounds.job_questions import CONTEXT, IDENTIFIERS, QUALITY
from worksample.records import Arm, Experiment, Lock, Protocol, now
from worksample.reports.sections.all_sections import measure
from worksample.reports.sections.section import Section
from worksample.store import Store
from worksample.tasks import read_suite

RUBRIC = "\n".join(["critical - Has a title", *(f"important - Names item {n}" for n in range(4))])
FIT = {CONTEXT: "yes", QUALITY: "not_applicable", IDENTIFIERS: "yes", "acceptance_criteria": RUBRIC}


def answered(seen: list[str]) -> Any:
    """By what the program found: who misses a file says so; the second expert differs on one job."""

    def answer(item: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
        seen.append(item["title"])
        if "gone.pdf" in item["notes"]:
            return {**FIT, CONTEXT: "no", CONTEXT + "_why": "gone.pdf is not there"}
        if item["title"] == "Contested" and seen.count("Contested") > 1:
            return {**FIT, IDENTIFIERS: "no", IDENTIFIERS + "_why": "the client's name is in the text"}
        return FIT

    return answer


@pytest.mark.box
def test_list_of_jobs_becomes_a_suite(tmp_path: Path) -> None:
    (tmp_path / "style.txt").write_text("Short sentences.")
    rows = [
        row(contract_id="good", job_title="Good", acceptance_criteria=""),
        row(contract_id="gone", job_title="Gone", attachments="style.txt;gone.pdf", acceptance_criteria=""),
        row(contract_id="contested", job_title="Contested", acceptance_criteria=""),
        row(contract_id="hourly", contract_type="Hourly"),
    ]
    table, suite, store = write_csv(tmp_path / "jobs.csv", rows), tmp_path / "all", tmp_path / "s"
    made = cli_json("import", "upbench", str(table), str(suite), "--missing")
    assert (len(made["written"]), made["left_out"]) == (3, {"fixed-price": 1})
    asked = cli_json("jobs", "qualify", str(suite), "--store", str(store))
    missing = {id.partition("/")[0]: look["missing"] for id, look in asked["looks"].items()}
    assert sorted(map(tuple, missing.values())) == [(), (), ("gone.pdf",)]
    seen: list[str] = []
    with Store.open(store) as opened:
        experts = ScriptedExperts(opened, answered(seen), names=("ann", "bob", "cem"))
        for _ in range(3):
            experts.judge()
    assert {title: seen.count(title) for title in seen} == {"Good": 2, "Gone": 1, "Contested": 3}
    found = cli_json("jobs", "funnel", "--store", str(store))
    steps = {what.strip(): n for what, n in found["steps"]}
    assert (steps["rows of the list"], steps["left out: not fixed-price"]) == (4, 1)
    assert (steps["qualified at the first look"], steps["looked at by a second expert"]) == (2, 2)
    assert (steps["left out"], steps["qualified"], steps["wait for a look"]) == (2, 1, 0)
    assert steps["with a rubric of 5 to 20 criteria"] == 1
    searched = steps["a program searched for identifiers in"]
    assert searched == (0 if lacks("pii") else 3)
    assert ("a program found candidates for identifiers in" in steps) == bool(searched)
    jobs = {job["contract"]: job for job in found["jobs"]}
    assert (jobs["gone"]["failed"], jobs["gone"]["reasons"]) == ([CONTEXT], ["gone.pdf is not there"])
    assert jobs["contested"]["by"] == "adjudication"
    told = cli("jobs", "funnel", asked["round"], "--out", "--store", str(store))
    assert "gone.pdf is not there" in told.stdout
    kept = tmp_path / "kept"
    cli_json("jobs", "keep", str(suite), str(kept), "--store", str(store))
    [package] = read_suite(kept).packages
    assert package.about.job is not None and package.about.job.contract == "good"
    assert len(package.criteria.leaves) == 5
    # A report on an experiment with these jobs says how they came to be tasks.
    with Store.open(store) as opened:
        [section] = [s for s in measured(opened, jobs) if s.id.startswith("qualification")]
    told = {row.label.strip(): row.cells for row in section.rows}
    assert told["qualified"] == ("1",) and "1 of 3 qualified" in section.notes[0]


def measured(store: Store, jobs: dict[str, Any]) -> tuple[Section, ...]:
    """The figures of an experiment in which nobody has worked on these jobs yet."""
    ids = tuple(job["job"] for job in jobs.values())
    lock = Lock(suite="s", instances=ids, protocol=Protocol.HOLISTIC, sandbox="bubblewrap")
    plan = Experiment(id="x", name="x", agents=(), arms=(Arm(),), repeats=1, lock=lock, author="me", at=now())
    store.commit(plan)
    return measure(store, [plan])


def test_suite_without_jobs_is_refused(tmp_path: Path) -> None:
    done = cli("jobs", "qualify", "starter", "--store", str(tmp_path / "s"))
    assert done.returncode != 0 and "no task of this suite was made from a job" in done.stderr
    done = cli("jobs", "funnel", "--store", str(tmp_path / "s"))
    assert "worksample jobs qualify" in done.stderr


def test_json_of_a_refused_import_lists_every_fault_by_line(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "jobs.csv", [{"id": n, "description": "a logo", "value": "-5"} for n in range(30)])
    said = json.loads(cli("import", "jobs", table, tmp_path / "out", "--json").stdout)["error"]
    assert said["faults"] == {f"line {n}": "value: is below 0" for n in range(2, 32)}


def test_import_that_writes_nothing_names_no_suite(tmp_path: Path) -> None:
    table = tmp_path / "jobs.csv"
    table.write_text("id,description,value\n1,a logo,-5\n")
    done = cli("import", "jobs", table, tmp_path / "out", "--skip-faulty")
    assert (done.returncode, (tmp_path / "out").exists()) == (0, False)
    assert "no job was imported" in done.stdout and "next:" not in done.stdout
