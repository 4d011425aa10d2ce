"""Import of UpBench's tables: changes by a refresh, faulty rows, and files beside the tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click import Command
from click.testing import CliRunner

from worksample.cli.format_commands import FormatCommands
from worksample.errors import FaultyRows, UsageError
from worksample.formats.upbench import (
    ImportedTables,
    ImportUpbench,
    Tables,
    export_upbench,
    import_upbench,
    tables_of,
    write_tables,
)
from worksample.formats.upbench.tables import complete_tables, id_of
from worksample.records import Amendment, Instance, Slot, Submission
from worksample.store import Store
from worksample.tasks import read_suite


def base() -> Tables:
    """Return tables with one job with a rubric, an agent, two attempts, a person and a judge."""
    rubric = [
        {"criterion": "Has a title", "importance": "critical"},
        {"criterion": "Is short", "importance": "optional"},
    ]
    at = datetime(2025, 3, 1, tzinfo=UTC)

    def said(id: str, submission: str, who: str, mark: str) -> dict[str, Any]:
        feedback = [{**rubric[0], "judgment": mark}, {**rubric[1], "judgment": "fail", "feedback": "long"}]
        return {
            "evaluation_id": id, "contract_id": "j1", "submission_id": submission, "evaluator_id": who,
            "submission_feedback": feedback, "judgement": mark, "is_successful_run": True,
        }  # fmt: skip

    def made(id: str, k: int) -> dict[str, Any]:
        return {
            "submission_id": id, "contract_id": "j1", "agent_id": "a1", "k": k, "duration": 60.0,
            "deliverables": ["x.txt"], "submission_ts": at + timedelta(days=k), "is_successful_run": True,
        }  # fmt: skip

    return complete_tables(
        {
            "projects": [
                {"contract_id": "j1", "start_ts": at, "job_description": "Write it.", "contract_amount": 90.0}
            ],
            "qualifications": [{
                "qualification_id": "1", "contract_id": "j1", "evaluator_id": "eva", "qualification_ts": at,
                "criterion_1_judgment": "pass", "acceptance_criteria": rubric, "is_successful_run": True,
            }],
            "submissions": [made("s1", 1), made("s2", 2)],
            "evaluations": [said("1", "s1", "eva", "fail"), said("2", "s2", "eva", "pass")],
            "evaluators": [{"evaluator_id": "eva", "registration_ts": at, "is_human": True, "name": "Eva"}],
            "agents": [{"agent_id": "a1", "is_human": False, "name": "agent"}],
        }
    )  # fmt: skip


class Refreshed:
    """A store with `base`, and the effect of other tables on it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, Store.open(folder / "s", create=True)
        self.take(base())

    def take(self, tables: Tables, **how: Any) -> ImportedTables:
        write_tables(tables, self.folder / "t", "jsonl")
        return import_upbench(self.store, self.folder / "t", self.folder / "jobs", ImportUpbench(**how))

    def table(self, name: str) -> list[dict[str, Any]]:
        return tables_of(self.store)[0][name]


@pytest.fixture
def refreshed(tmp_path: Path) -> Iterator[Refreshed]:
    made = Refreshed(tmp_path)
    yield made
    made.store.close()


def test_refresh_reports_its_changes(refreshed: Refreshed) -> None:
    tables = base()
    tables["projects"][0]["automation_desire_rating"] = 4.5
    tables["projects"].append(
        {**tables["projects"][0], "contract_id": "j2", "start_ts": datetime(2025, 4, 2, tzinfo=UTC)}
    )
    tables["submissions"].append({**tables["submissions"][0], "submission_id": "s3", "contract_id": "j2"})
    tables["submissions"].append({**tables["submissions"][1], "submission_id": "s4", "k": 3})
    tables["evaluations"].append(
        {**tables["evaluations"][1], "evaluation_id": "3", "submission_id": "s3", "contract_id": "j2"}
    )
    before = tables_of(refreshed.store)
    told = refreshed.take(tables, dry_run=True)
    assert tables_of(refreshed.store) == before
    assert told.refresh == refreshed.take(tables).refresh
    assert told.refresh.rows["projects"] == {"new": 1, "changed": 1, "same": 0, "gone": 0}
    assert told.refresh.columns == {"projects": {"automation_desire_rating": 1}}
    assert [(c.month, c.jobs, c.judged, c.passed) for c in told.refresh.cohorts] == [
        ("2025-03", (1, 1), (1, 1), (0, 0)), ("2025-04", (0, 1), (0, 1), (0, 1)),
    ]  # fmt: skip
    assert [p["automation_desire_rating"] for p in refreshed.table("projects")] == [4.5, 4.5]
    assert [s["k"] for s in refreshed.table("submissions")] == [1, 2, 1, 3]
    # The third attempt continues the second, which came in before it.
    slots = {s.attempt: s for s in refreshed.store.find(Slot, instance=refreshed.store.get(Submission, "s1").instance)}
    assert slots[3].after == slots[2].id and slots[2].after == slots[1].id
    # A job that changes back is a version of its own.
    refreshed.take(base())
    assert refreshed.table("projects")[0]["automation_desire_rating"] is None


def test_changed_is_successful_run_strikes_and_restores(refreshed: Refreshed) -> None:
    for good in (False, True, False):
        tables = base()
        tables["evaluations"][0]["is_successful_run"] = good
        tables["submissions"][1]["is_successful_run"] = good
        refreshed.take(tables)
        assert [e["is_successful_run"] for e in refreshed.table("evaluations")] == [good, True]
        assert [s["is_successful_run"] for s in refreshed.table("submissions")] == [True, good]
    assert len(refreshed.store.find(Amendment)) == 6


CHANGED: dict[str, tuple[str, int, dict[str, Any], str]] = {
    "evidence that differs": (
        "evaluations",
        0,
        {"judgement": "pass"},
        "evaluations, 1: this row is already in the store with another",
    ),
    "another attempt": ("submissions", 0, {"k": 2}, "already in the store with another k"),
    "a job that is not there": (
        "submissions",
        0,
        {"submission_id": "n", "contract_id": "j9"},
        "'j9' is not in the table",
    ),
    "an agent that is not there": ("submissions", 0, {"submission_id": "n", "agent_id": None}, "agent_id: is missing"),
    "a judge that is not there": (
        "evaluations",
        0,
        {"evaluation_id": "n", "evaluator_id": "x"},
        "'x' is not in the table",
    ),
    "no id to call a file by": ("submissions", 0, {"submission_id": "../../s"}, "has characters other than letters"),
    "attempt 0": ("submissions", 0, {"submission_id": "n", "k": 0}, "must be 1"),
    "attempt 1000": ("submissions", 0, {"submission_id": "n", "k": 1000}, "must be 1 to 101"),
    "no duration": ("submissions", 0, {"submission_id": "n", "duration": None}, "duration: is missing"),
    "files that lead out": ("submissions", 0, {"submission_id": "n", "deliverables": ["../x"]}, "'..' step"),
    "feedback of another form": (
        "evaluations",
        0,
        {"evaluation_id": "n", "submission_feedback": "good"},
        "not a list of crit",
    ),
    "a mark of another form": (
        "evaluations",
        0,
        {"evaluation_id": "n", "submission_feedback": [{"criterion": "a", "judgment": "so"}]},
        "item 1 has no judgment",
    ),
    "a word that is no judgement": ("evaluations", 0, {"evaluation_id": "n", "judgement": "good"}, "'good' is neither"),
    "a rubric of another form": (
        "qualifications",
        0,
        {"qualification_id": "n", "acceptance_criteria": "Nice"},
        "line 1",
    ),
    "no description": ("projects", 0, {"contract_id": "n", "job_description": None}, "no description"),
    "an end before the start": (
        "projects",
        0,
        {"contract_id": "n", "end_ts": datetime(2024, 1, 1, tzinfo=UTC)},
        "before it starts",
    ),
    "an attachment without a name": (
        "projects",
        0,
        {"contract_id": "n", "attachments": [{"size": 3}]},
        "attachments: is no",
    ),
    "a source that there is not": (
        "projects",
        0,
        {"contract_id": "n", "amount_source": "rumour"},
        "is 'rumour', not one of",
    ),
    "nobody knows what": ("evaluators", 0, {"evaluator_id": "n", "is_human": None}, "is_human: is missing"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_faulty_row_is_named_and_nothing_is_written(refreshed: Refreshed, name: str) -> None:
    table, at, change, said = CHANGED[name]
    tables = base()
    row = {**tables[table][at], **change}
    tables[table] = [*(r for r in tables[table] if r[id_of(table)] != row[id_of(table)]), row]
    before = tables_of(refreshed.store)
    with pytest.raises(FaultyRows, match=re.escape(said)):
        refreshed.take(tables)
    assert tables_of(refreshed.store) == before
    made = refreshed.take(tables, skip_faulty=True)
    assert len(made.faults) == 1 and tables_of(refreshed.store) == before


def test_files_beside_tables_are_imported_and_missing_ones_counted(tmp_path: Path) -> None:
    (tmp_path / "t" / "s1").mkdir(parents=True)
    (tmp_path / "t" / "s1" / "x.txt").write_text("mine")
    (tmp_path / "secret").write_text("not yours")
    (tmp_path / "t" / "y.txt").symlink_to(tmp_path / "secret")
    tables = base()
    tables["submissions"][1]["deliverables"] = ["y.txt"]
    tables["submissions"].append({**tables["submissions"][0], "submission_id": "s3", "k": 3, "deliverables": "A text."})
    write_tables(tables, tmp_path / "t", "json")
    with Store.open(tmp_path / "s", create=True) as store:
        made = import_upbench(store, tmp_path / "t", tmp_path / "jobs")
        parts = [store.get(Submission, id).parts["output"] for id in ("s1", "s2", "s3")]
        texts = [{e.path: e.blob and store.blobs.read(e.blob) for e in store.manifest(p.manifest).files} for p in parts]
    assert texts == [{"x.txt": b"mine"}, {"y.txt": None}, {"deliverable.md": b"A text."}]
    assert (made.missing, parts[1].status, parts[1].reason) == (1, "partial", "1 of 1 files were not there")


def test_excluded_jobs_are_imported_marked_and_outside_the_suite(refreshed: Refreshed) -> None:
    tables = base()
    for n, more in enumerate(({"contract_type": "hourly"}, {"num_milestones": 3}, {})):
        tables["projects"].append({**tables["projects"][0], "contract_id": f"m{n}", **more})
    refreshed.take(tables)
    suite = {p.about.job.contract for p in read_suite(refreshed.folder / "jobs").packages if p.about.job}
    assert suite == {"j1", "m2"}
    tags = {i.about.job.contract: i.about.tags for i in refreshed.store.find(Instance) if i.about.job}
    assert (tags["m0"], tags["m1"]) == (("hourly",), ("several-milestones",))


def json_output(command: Command, *words: object) -> Any:
    """Return the JSON output of a command."""
    done = CliRunner().invoke(command, [*map(str, words), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_commands_import_and_export_tables(tmp_path: Path) -> None:
    write_tables(base(), tmp_path / "t")
    at = ("--store", tmp_path / "s")
    importing, exporting = FormatCommands("import")["upbench"].load(), FormatCommands("export")["upbench"].load()
    made = json_output(importing, tmp_path / "t", tmp_path / "jobs", *at)
    assert made["refresh"]["rows"]["submissions"]["new"] == 2 and made["experiment"]
    with Store.open(tmp_path / "s") as store:
        assert export_upbench(store, tmp_path / "none").left_out == {"jobs of private suites": 1}
    assert json_output(exporting, tmp_path / "out", *at, "--private", "--format", "json")["rows"]["evaluations"] == 2
    words = [tmp_path / "t", tmp_path / "jobs", "--overwrite", *at]
    refused = CliRunner().invoke(importing, list(map(str, words)))
    assert isinstance(refused.exception, UsageError) and "--overwrite works only with" in str(refused.exception)
