"""Comparison of imported rows with the store: which are valid, which are new, and which have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worksample.files import HashSink
from worksample.files.tables.cell_values import InvalidCell
from worksample.formats.jobs.posting import Posting
from worksample.records import Criteria, Source, Submission
from worksample.store import Store

from .cell_json import criteria_cell, feedback_cell, label_columns, read_feedback, read_labels
from .deliverable_export import entry_names
from .evaluation_import import judgement_of, qualification_of
from .job_import import normal_row, posting_of, rubric_of
from .submission_import import AUTHOR, ArmCells, check_submission, entries_of, usage_of
from .table_export import tables_of
from .tables import ADDED_COLUMNS, NAMES, UPBENCH_COLUMNS, Row, Tables, id_of

_FLAG = "is_successful_run"


@dataclass
class RowChanges:
    """The rows of the store, and new or changed rows of the tables. `faults` collects the invalid rows."""

    store: Store
    tables: Tables
    files: Path
    source: Source
    faults: dict[str, str]
    new: dict[str, dict[str, Row]] = field(default_factory=dict)
    changed: dict[str, dict[str, Row]] = field(default_factory=dict)
    postings: dict[str, Posting] = field(default_factory=dict)
    criteria: dict[str, Criteria] = field(default_factory=dict)
    """Contract -> the rubric in force."""
    arms: ArmCells = field(default_factory=ArmCells)
    """What rows say of arms."""

    def __post_init__(self) -> None:
        self.stored, _ = tables_of(self.store)
        self.stored_by_id = {name: {row[id_of(name)]: row for row in rows} for name, rows in self.stored.items()}
        self.by_id = {name: {row[id_of(name)]: row for row in rows} for name, rows in self.tables.items()}

    # -- checks of rows

    def check_rows(self) -> None:
        """Check every row, in the order in which tables refer to each other; sort it into new, changed and known."""
        self._find_rubrics()
        checks: Mapping[str, Callable[[Row], Row]] = {
            "evaluators": self._check_evaluator, "agents": lambda row: row, "projects": self._check_job,
            "qualifications": self._check_qualification, "submissions": self._check_submission,
            "evaluations": self._check_evaluation,
        }  # fmt: skip
        for name, check in checks.items():
            self.new[name], self.changed[name] = {}, {}
            for id, row in list(self.by_id[name].items()):
                try:
                    self._sort_row(name, id, check(row))
                except InvalidCell as e:
                    self.faults[f"{name}, {id[:80]}"] = str(e)
                    del self.by_id[name][id]

    def _sort_row(self, name: str, id: str, row: Row) -> None:
        before = self.stored_by_id[name].get(id)
        if before is None:
            self.new[name][id] = row
            return
        paper = UPBENCH_COLUMNS[name]
        differs = [
            c for c in (*paper, *ADDED_COLUMNS.get(name, ()), *(c for c in row if c not in paper))
            if row.get(c) != before.get(c) and not (row.get(c) is None and c in ADDED_COLUMNS.get(name, ()))
            and not (c == _FLAG and row.get(c) is None)
        ]  # fmt: skip
        if not differs:
            return
        if name != "projects" and set(differs) != {_FLAG}:
            raise InvalidCell(f"this row is already in the store with another {', '.join(dict.fromkeys(differs))}")
        self.changed[name][id] = row

    def _find_rubrics(self) -> None:
        """Set the rubric of each job: its own cell, else the latest one in a successful qualification, else the
        store's.
        """
        written: dict[str, tuple[Any, Criteria]] = {}
        for row in sorted(
            self.by_id["qualifications"].values(),
            key=lambda r: (r["qualification_ts"] or datetime.min.replace(tzinfo=UTC), r["qualification_id"]),
        ):
            try:
                found = rubric_of(row["acceptance_criteria"], "acceptance_criteria")
            except InvalidCell:
                continue
            if found.criteria and row[_FLAG] is not False:
                written[row["contract_id"]] = (row["qualification_ts"], found)
        for id, row in self.by_id["projects"].items():
            try:
                own = rubric_of(row["acceptance_criteria"], "acceptance_criteria")
            except InvalidCell:
                continue
            held = self.stored_by_id["projects"].get(id, {}).get("acceptance_criteria")
            kept = rubric_of(held, "") if held else Criteria()
            self.criteria[id] = own if own.criteria else written[id][1] if id in written else kept

    def _check_evaluator(self, row: Row) -> Row:
        if row["is_human"] is None:
            raise InvalidCell("is_human: is missing")
        if row["registration_ts"] is not None:
            return row
        id = row["evaluator_id"]
        times = [r["qualification_ts"] for r in self.by_id["qualifications"].values() if r["evaluator_id"] == id]
        submitted = {s["submission_id"]: s["submission_ts"] for s in self.by_id["submissions"].values()}
        times += [
            r["evaluation_ts"] or submitted.get(r["submission_id"])
            for r in self.by_id["evaluations"].values() if r["evaluator_id"] == id
        ]  # fmt: skip
        known = [at for at in times if at is not None]
        if not known:
            raise InvalidCell("registration_ts: is missing, and no dated row refers to this evaluator")
        return {**row, "registration_ts": min(known)}

    def _check_job(self, row: Row) -> Row:
        id = row["contract_id"]
        if id not in self.criteria:
            rubric_of(row["acceptance_criteria"], "acceptance_criteria")
        normalised = {**row, "acceptance_criteria": criteria_cell(self.criteria[id])}
        self.postings[id] = posting_of(normalised, self.source)
        return normal_row(normalised, self.postings[id])

    def _known_id(self, table: str, row: Row) -> str:
        column = id_of(table)
        if row[column] is None:
            raise InvalidCell(f"{column}: is missing")
        if row[column] not in self.by_id[table] and row[column] not in self.stored_by_id[table]:
            raise InvalidCell(f"{column}: {row[column][:80]!r} is not in the table {table}")
        return str(row[column])

    def _check_qualification(self, row: Row) -> Row:
        self._known_id("projects", row)
        self._known_id("evaluators", row)
        criteria = rubric_of(row["acceptance_criteria"], "acceptance_criteria")
        qualification = qualification_of(row, "-", "-", criteria)
        answers = label_columns(read_labels(row, criteria)) if qualification.payload else {}  # type: ignore[arg-type]
        own = {name: None for name in row if name.startswith("criterion_")}
        return {**row, **own, **answers, _FLAG: row[_FLAG] is not False}

    def _check_submission(self, row: Row) -> Row:
        self._known_id("projects", row)
        self._known_id("agents", row)
        check_submission(row)
        self.arms.check(row)
        normalised = dict(row)
        if row["duration"] is not None:
            normalised["duration"] = round(row["duration"], 6)
        entries = entries_of(HashSink(), row, self.files / "-")
        used = usage_of(row)
        normalised["usage"] = {role: one.plain() for role, one in used.items()} or None
        normalised["deliverables"] = None if entries is None else list(entry_names(entries))
        return {**normalised, _FLAG: row[_FLAG] is not False}

    def _check_evaluation(self, row: Row) -> Row:
        contract = self._known_id("projects", row)
        submission = self._known_id("submissions", row)
        self._known_id("evaluators", row)
        of = self.by_id["submissions"].get(submission) or self.stored_by_id["submissions"][submission]
        if of["contract_id"] != contract:
            raise InvalidCell(f"contract_id: the submission belongs to another contract, {of['contract_id'][:80]!r}")
        fresh = row["evaluation_id"] not in self.stored_by_id["evaluations"]
        if (
            fresh
            and submission in self.stored_by_id["submissions"]
            and self.store.get(Submission, submission).author != AUTHOR
        ):
            raise InvalidCell(
                "submission_id: this submission was handed in to this store, not imported; open a round "
                "for it, or import its judgments"
            )
        criteria = self.criteria.get(contract, Criteria())
        normalised = {**row, "judgement": judgement_of(row), _FLAG: row[_FLAG] is not False}
        if row["submission_feedback"] not in (None, [], {}):
            normalised["submission_feedback"] = feedback_cell(
                read_feedback(row["submission_feedback"], criteria), criteria
            )
        return normalised

    def tables_after(self) -> Tables:
        """Return the tables as the store would hold them after the import."""
        return {
            name: list({**self.stored_by_id[name], **self.new[name], **self.changed[name]}.values()) for name in NAMES
        }
