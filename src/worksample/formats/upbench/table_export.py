"""Export of a store as UpBench's six tables (appendix B): jobs, qualifications, submissions, evaluations, evaluators,
agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from worksample.records import (
    IMPORTED,
    Agent,
    Amendment,
    AmendmentTarget,
    Arm,
    Criteria,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    GradePayload,
    Holistic,
    Instance,
    Labels,
    Origin,
    Protocol,
    Purpose,
    ResolutionRule,
    Round,
    Slot,
    Submission,
    Suite,
    Task,
    Trial,
    struck,
    targets_of,
)
from worksample.results.evaluator_answers import MERITS
from worksample.results.grading_in_force import as_graded
from worksample.results.round_evaluations import evaluations_of
from worksample.results.verdicts import verdict_frame
from worksample.store import Store

from .cell_json import FAIL, PASS, feedback_cell, label_columns
from .deliverable_export import entry_names, write_files
from .job_export import contract_of, project_row
from .table_files import write_tables
from .tables import Row, Tables, complete_tables

RECORD_KEY = "upbench"
"""Key in an evaluation's `record` for those values of its imported row that no other field holds."""
NAMED_ARMS = "arms"
"""Key in the settings of an imported experiment whose rows name their arms."""
_ID_PREFIX = "id "
"""Prefix of an id that is kept there. Without it, 64 hexadecimal digits would count as the digest of a blob."""
NO_CRITERIA = Criteria()


@dataclass(frozen=True, slots=True)
class ExportUpbench:
    """Settings of an export."""

    format: str = "csv"
    private: bool = False
    """Whether private suites are included."""
    files: bool = False
    """Whether deliverables and attachments of jobs are written as files beside the tables."""


@dataclass(frozen=True, slots=True)
class ExportedTables:
    """The files and rows that were written."""

    rows: dict[str, int]
    """Table -> number of rows."""
    left_out: dict[str, int]
    """Kind of record that the tables cannot hold -> number of records."""
    files: tuple[Path, ...]
    """The tables' files."""
    beside: int = 0
    """Number of files beside the tables."""


def export_upbench(
    store: Store, out: Path, experiments: Iterable[Experiment] | None = None, config: ExportUpbench | None = None
) -> ExportedTables:
    """Write the six tables below `out`, for these experiments or the whole store.

    Jobs of private suites, and all records of them, are left out unless requested. Raises UsageError, StoreFull.
    """
    config = config or ExportUpbench()
    stored = _StoredRows(store, None if experiments is None else tuple(experiments), private=config.private)
    tables = stored.tables()
    beside = 0
    if config.files:
        beside, stored.left["files that no table can name"] = write_files(
            store, out, stored.submissions.values(), stored.latest.values()
        )
    files = write_tables(tables, out, config.format)
    return ExportedTables({name: len(rows) for name, rows in tables.items()}, stored.left_out(), tuple(files), beside)


def tables_of(
    store: Store, experiments: Iterable[Experiment] | None = None, *, private: bool = True
) -> tuple[Tables, dict[str, int]]:
    """Return (the six tables, kind of record that they cannot hold -> number of records)."""
    stored = _StoredRows(store, None if experiments is None else tuple(experiments), private=private)
    return stored.tables(), stored.left_out()


def stored_id(own: str) -> str:
    """Return a table's id in the form in which a record keeps it."""
    return _ID_PREFIX + own


class _StoredRows:
    """Rows for the records of a store, or of some of its experiments."""

    def __init__(self, store: Store, experiments: tuple[Experiment, ...] | None, *, private: bool) -> None:
        self.store, self.chosen = store, experiments
        self.left: Counter[str] = Counter()
        self.gone = struck(store.find(Amendment))
        self.rounds = {r.id: r for r in store.find(Round)}
        every = {i.id: i for i in store.find(Instance)}
        hidden = {i for s in store.find(Suite) if s.visibility == "private" for i in s.instances}
        secret = set() if private else {contract_of(every[i]) for i in hidden if i in every}
        planned = (
            None if experiments is None else {contract_of(every[i]) for e in experiments for i in e.lock.instances}
        )
        self.instances = {
            id: one for id, one in every.items()
            if (name := contract_of(one)) not in secret and (planned is None or name in planned)
        }  # fmt: skip
        self.left["jobs of private suites"] = len(secret)

    @cached_property
    def submissions(self) -> dict[str, Submission]:
        inside = None if self.chosen is None else {None, *(e.id for e in self.chosen)}
        found = [
            s for s in self.store.find(Submission)
            if s.instance in self.instances and (inside is None or s.experiment in inside)
        ]  # fmt: skip
        self.left["submissions that are controls"] = sum(s.origin is Origin.CONTROL for s in found)
        return {s.id: s for s in found if s.origin is not Origin.CONTROL}

    @cached_property
    def experiments(self) -> dict[str, Experiment]:
        return {e.id: e for e in self.store.find(Experiment)}

    def _arm(self, slot: Slot) -> Row:
        """Return the cells about an attempt's arm; empty if its imported row had none."""
        experiment = self.experiments[slot.experiment]
        if experiment.lock.sandbox == IMPORTED and not experiment.settings.get(NAMED_ARMS):
            return {}
        arm = next((a for a in experiment.arms if a.name == slot.arm), Arm(name=slot.arm))
        told = {"arm_feedback": arm.feedback.value, "arm_continues": arm.continues}
        return {"arm": slot.arm, "repeat": slot.repeat, **told}

    @cached_property
    def trials(self) -> dict[str, Trial]:
        return {t.id: t for t in self.store.find(Trial)}

    @cached_property
    def live(self) -> frozenset[str]:
        return frozenset(t.id for t in self.store.find(Trial, live=True))

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        """Qualifications of jobs, and evaluations of the merits of submissions."""
        out = []
        for e in self.store.find(Evaluation):
            if e.instance not in self.instances or not (e.of_job or e.subject in self.submissions):
                continue
            round = self.rounds[e.round]
            if e.of_job and round.purpose is Purpose.QUALIFICATION:
                out.append(e)
            elif e.second is not None:
                self.left["comparisons of pairs"] += 1
            elif round.purpose not in MERITS:
                self.left["evaluations that look again, label or calibrate"] += 1
            elif e.payload is not None and not isinstance(e.payload, GradePayload | Holistic):
                self.left["evaluations that judge nothing"] += 1
            else:
                out.append(e)
        return out

    @cached_property
    def agents(self) -> dict[str, Agent]:
        return {a.id: a for a in self.store.find(Agent)}

    def left_out(self) -> dict[str, int]:
        """Return kind of record that the tables cannot hold -> number of records."""
        return {name: n for name, n in sorted(self.left.items()) if n}

    @cached_property
    def latest(self) -> dict[str, Instance]:
        """Contract -> the version of the job that was ingested last."""
        since = {i: t.ingested for t in self.store.find(Task) for i in t.instances}
        ordered = sorted(self.instances.values(), key=lambda i: (i.id in since, since.get(i.id), i.id))
        return {contract_of(one): one for one in ordered}

    # -- tables

    def tables(self) -> Tables:
        return complete_tables(
            {
                "projects": self.project_rows(), "qualifications": self.qualification_rows(),
                "submissions": self.submission_rows(), "evaluations": self.evaluation_rows(),
                "evaluators": self.evaluator_rows(), "agents": self.agent_rows(),
            }
        )  # fmt: skip

    def project_rows(self) -> Iterator[Row]:
        for one in self.latest.values():
            inputs = () if one.about.job else self._paths(one.work.inputs)
            yield project_row(one, inputs)

    def qualification_rows(self) -> Iterator[Row]:
        for e in self.evaluations:
            if not e.of_job:
                continue
            answers = label_columns(e.payload) if isinstance(e.payload, Labels) else {}
            yield {
                "qualification_id": _own_id(e), "contract_id": contract_of(self.instances[e.instance]),
                "evaluator_id": e.evaluator, "qualification_ts": e.at, **answers,
                "is_successful_run": self._is_successful(e),
            }  # fmt: skip

    def submission_rows(self) -> Iterator[Row]:
        slots = {s.id: s for s in self.store.find(Slot)}
        for submission in self.submissions.values():
            trial = self.trials.get(submission.trial or "")
            minutes = submission.reported.minutes
            lasted = trial.working_seconds if trial else None if minutes is None else minutes * 60
            slot = slots[trial.slot] if trial else None
            yield {
                "submission_id": submission.id, "contract_id": contract_of(self.instances[submission.instance]),
                "agent_id": self._agent(submission.entrant), "submission_ts": submission.at,
                "deliverables": self._output(submission),
                "notes": submission.note or None, "k": slot.attempt if slot else None,
                "duration": None if lasted is None else round(lasted, 6),
                "is_successful_run": (trial is None or trial.id in self.live) and self._is_valid(submission),
                **(self._arm(slot) if slot else {}),
                **(_usage_cells(trial) if trial else {}),
            }  # fmt: skip

    def evaluation_rows(self) -> Iterator[Row]:
        evaluations = [e for e in self.evaluations if not e.of_job]
        passed = passes_by_evaluation(self.rounds, evaluations)
        for e in evaluations:
            imported = e.record.get(RECORD_KEY, {})
            judged = {True: PASS, False: FAIL, None: None}[passed.get(e.id)]
            yield {
                "evaluation_id": _own_id(e), "contract_id": contract_of(self.instances[e.instance]),
                "submission_id": e.subject, "evaluator_id": e.evaluator,
                "submission_feedback": None if e.payload is None else self._feedback(e),
                "judgement": imported.get("judgement", judged),
                "is_successful_run": self._is_successful(e),
                "evaluation_ts": None if imported.get("undated") else e.at, "minutes": e.minutes,
            }  # fmt: skip

    def evaluator_rows(self) -> Iterator[Row]:
        chosen = None if self.chosen is None else {e.evaluator for e in self.evaluations}
        for evaluator in self.store.find(Evaluator):
            if chosen is None or evaluator.id in chosen:
                yield {
                    "evaluator_id": evaluator.id, "registration_ts": evaluator.at, "name": evaluator.name or None,
                    "is_human": evaluator.type is EvaluatorKind.PERSON,
                }  # fmt: skip

    def agent_rows(self) -> Iterator[Row]:
        """Yield a row for each agent of an experiment, and for each other entrant of a submission."""
        from worksample.agents.agent_definition import HUMAN

        first: dict[str, datetime] = {}
        for e in self.store.find(Experiment):
            for id in e.agents:
                first[id] = min(first.get(id, e.at), e.at)
        origins = {s.entrant: s.origin for s in self.submissions.values()}
        planned = self.agents if self.chosen is None else {a: None for e in self.chosen for a in e.agents}
        for id in {**planned, **origins}:
            agent = self.agents.get(id)
            if agent is None:
                yield {"agent_id": id, "registration_ts": None, "is_human": origins[id] is Origin.PERSON, "name": id}
            elif agent.harness == IMPORTED:
                row = agent.settings
                at = row["registration_ts"]
                yield {
                    "agent_id": row["agent_id"], "registration_ts": datetime.fromisoformat(at) if at else None,
                    "is_human": row["is_human"], "name": row["name"],
                }  # fmt: skip
            else:
                human = agent.harness == HUMAN
                yield {"agent_id": id, "registration_ts": first.get(id), "is_human": human, "name": agent.name}

    # -- cells

    def _agent(self, entrant: str) -> str:
        agent = self.agents.get(entrant)
        return str(agent.settings["agent_id"]) if agent and agent.harness == IMPORTED else entrant

    def _is_successful(self, e: Evaluation) -> bool:
        """Return whether an evaluation is valid, even if its submission or job was struck: their own rows say so."""
        own_rows = (
            set() if e.of_job else {(AmendmentTarget.SUBMISSION, e.subject), (AmendmentTarget.INSTANCE, e.instance)}
        )
        return e.outcome is EvaluationOutcome.GIVEN and not self.gone & (set(targets_of(e)) - own_rows)

    def _is_valid(self, submission: Submission) -> bool:
        targets = {
            (AmendmentTarget.SUBMISSION, submission.id),
            (AmendmentTarget.INSTANCE, submission.instance),
            (AmendmentTarget.TRIAL, submission.trial or ""),
        }
        return not self.gone & targets

    def _paths(self, manifest: str) -> tuple[str, ...]:
        return entry_names(self.store.manifest(manifest).files)

    def _output(self, submission: Submission) -> list[str] | None:
        part = submission.parts.get("output")
        if part is None:
            return None
        found = list(entry_names(self.store.manifest(part.manifest).entries))
        return found if found or part.status != "absent" else None

    def _feedback(self, e: Evaluation) -> Any:
        assert isinstance(e.payload, GradePayload | Holistic)
        round = self.rounds[e.round]
        grading = as_graded(self.store, round, self.instances[e.instance]).grading.get(round.protocol)
        if grading is None or not grading.criteria.criteria:
            grading = self.instances[e.instance].grading.get(Protocol.RUBRIC)
        return feedback_cell(e.payload, grading.criteria) if grading else feedback_cell(e.payload, NO_CRITERIA)


def _usage_cells(trial: Trial) -> Row:
    """Return the cells about a trial's steps and use of models."""
    used = {role: usage.plain() for role, usage in sorted(trial.usage.items())}
    return {"steps": trial.steps or None, "usage": used or None}


def passes_by_evaluation(rounds: Mapping[str, Round], evaluations: Sequence[Evaluation]) -> dict[str, bool | None]:
    """Return evaluation -> whether it alone passes its submission, by the rules of verdicts; None if it gives no
    judgment.
    """
    out: dict[str, bool | None] = {}
    for id in sorted({e.round for e in evaluations}):
        alone = [e.replaced(subject=e.id) for e in evaluations if e.round == id]
        one = rounds[id].replaced(rule=ResolutionRule.LATEST, overlap=1)
        frame = verdict_frame(one, evaluations_of(alone, (), leaves=True))
        out |= dict(zip(frame["subject"].to_list(), frame["passed"].to_list(), strict=True))
    return out


def _own_id(e: Evaluation) -> str:
    kept = e.record.get(RECORD_KEY, {}).get("id")
    return str(kept).removeprefix(_ID_PREFIX) if kept else e.id
