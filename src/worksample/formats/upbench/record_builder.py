"""Builder of the records of an import, from new and changed rows. The jobs' packages are written before the commit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from worksample.fault_injection import failpoint
from worksample.files.tables.cell_values import InvalidCell
from worksample.records import (
    IMPORTED,
    Agent,
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Fed,
    Feedback,
    Instance,
    Protocol,
    Purpose,
    Record,
    ResolutionRule,
    Round,
    Slot,
    Submission,
    Suite,
    Task,
    Trial,
    digest_of,
    now,
)
from worksample.results.job_suitability import CORE_NAMES, DECIDES
from worksample.tasks.taxonomy import slug

from .evaluation_import import evaluation_id, evaluation_of, protocol_of, qualification_of, round_of, success_amendment
from .job_export import contract_of
from .job_import import rubric_of, write_job
from .row_changes import RowChanges
from .submission_import import (
    AUTHOR,
    PendingSubmission,
    agent_of,
    assign_slots,
    entries_of,
    experiment_of,
    output_of,
    slots_of,
    submission_records,
)
from .table_export import RECORD_KEY
from .tables import Row

_FLAG = "is_successful_run"
_IN_WORDS = (Feedback.PEOPLE, Feedback.JUDGE, Feedback.PROGRAM)
"""Kinds of feedback that pass on what evaluations say."""


@dataclass
class RecordBuilder:
    """A builder of the records of an import."""

    changes: RowChanges
    out: Path
    visibility: str
    records: list[Record] = field(default_factory=list)
    instances: dict[str, Instance] = field(default_factory=dict)
    """Contract -> the latest version of the job."""
    missing: int = 0
    experiment: str = ""
    suite: str = ""

    def __post_init__(self) -> None:
        self.store = self.changes.store
        since = {i: t.ingested for t in self.store.find(Task) for i in t.instances}
        found = sorted(self.store.find(Instance), key=lambda i: (i.id in since, since.get(i.id), i.id))
        self.instances = {contract_of(one): one for one in found}
        self.versions = {c: sum(contract_of(i) == c for i in found) for c in self.changes.changed["projects"]}
        self.kinds = {e.id: e.type for e in self.store.find(Evaluator)}
        self.agents = {self._agent_id(a): a for a in self.store.find(Agent)}

    @staticmethod
    def _agent_id(agent: Agent) -> str:
        return str(agent.settings["agent_id"]) if agent.harness == IMPORTED else agent.id

    def build(self) -> None:
        """Build all records, in the order in which they refer to each other. Further faults are added to those of the
        rows.
        """
        self.add_evaluators_and_agents()
        self.add_jobs()
        self.add_qualifications()
        self.add_submissions()
        self.add_amendments()

    def add_evaluators_and_agents(self) -> None:
        """Add evaluators and agents."""
        for row in self.changes.new["evaluators"].values():
            kind = EvaluatorKind.PERSON if row["is_human"] else EvaluatorKind.JUDGE
            at = row["registration_ts"]
            self.records.append(Evaluator(id=row["evaluator_id"], name=row["name"] or "", type=kind, at=at))
            self.kinds[row["evaluator_id"]] = kind
        for row in self.changes.new["agents"].values():
            agent = agent_of(row)
            self.records.append(agent)
            self.agents[row["agent_id"]] = agent

    def add_jobs(self) -> None:
        """Write a package and add an instance for each new or changed job; add a suite of these instances."""
        day, added = self._latest_day(), []
        for contract, posting in self.changes.postings.items():
            changed = contract in self.changes.changed["projects"]
            fresh = changed or contract in self.changes.new["projects"]
            version = self.versions.get(contract, 0) + 1
            try:
                task, instance, missing = write_job(
                    self.store, posting, self.out, self.changes.files, day, version, overwrite=fresh
                )
            except InvalidCell as e:
                self.changes.faults[f"projects, {contract[:80]}"] = str(e)
                continue
            failpoint("import.package")
            if fresh:
                self.missing += missing
                self.records += [task, instance]
                self.instances[contract] = instance
                added.append(instance.id)
        if added:
            body = {
                "name": slug(self.out.resolve().name).strip("-") or "jobs", "title": "Jobs of UpBench", "version": "1",
                "visibility": self.visibility, "instances": tuple(sorted(added)),
            }  # fmt: skip
            draft = Suite.model_validate({"id": "-", **body})
            rest = {name: value for name, value in draft.plain().items() if name != "id"}
            self.suite = f"{draft.name}@{digest_of(rest)[:16]}"
            self.records.append(draft.replaced(id=self.suite))

    def _latest_day(self) -> date:
        """Return the date for amounts without a date: the day of the latest time in the tables."""
        moments = (
            value for rows in self.changes.by_id.values() for row in rows.values() for value in row.values()
            if isinstance(value, datetime)
        )  # fmt: skip
        return max(moments, default=now()).date()

    def add_qualifications(self) -> None:
        """Add qualifications to the round that first asked about their job. New jobs share a new round."""
        rounds_of_jobs: dict[str, tuple[str, str]] = {}
        for round in self.store.find(Round):
            if round.purpose is Purpose.QUALIFICATION and round.author == AUTHOR:
                for id in round.subjects:
                    rounds_of_jobs[contract_of(self.store.get(Instance, id))] = (round.id, id)
        rows = self.changes.new["qualifications"].values()
        fresh = sorted({r["contract_id"] for r in rows} - set(rounds_of_jobs))
        fresh = [c for c in fresh if c in self.instances]
        if fresh:
            subjects = tuple(self.instances[c].id for c in fresh)
            fresh_rows = [r for r in rows if r["contract_id"] in set(fresh)]
            twice = len({r["contract_id"] for r in fresh_rows}) < len(fresh_rows)
            round = Round(
                id=digest_of([RECORD_KEY, "qualification", *subjects])[:32],
                protocol=Protocol.HOLISTIC,
                purpose=Purpose.QUALIFICATION,
                subjects=subjects,
                rule=ResolutionRule.VERIFIED if twice else ResolutionRule.LATEST,
                versions={DECIDES: " ".join(CORE_NAMES), "imported": "1"},
                reason="imported from UpBench's tables",
                author=AUTHOR,
                at=min(r["qualification_ts"] for r in fresh_rows),
            )
            self.records.append(round)
            rounds_of_jobs |= {c: (round.id, id) for c, id in zip(fresh, subjects, strict=True)}
        for row in rows:
            if row["contract_id"] in rounds_of_jobs:
                criteria = rubric_of(row["acceptance_criteria"], "acceptance_criteria")
                self._add_evaluation(row, qualification_of(row, *rounds_of_jobs[row["contract_id"]], criteria))

    def _add_evaluation(self, row: Row, evaluation: Evaluation) -> None:
        self.records.append(evaluation)
        if evaluation.outcome is EvaluationOutcome.GIVEN and row[_FLAG] is False:
            self.records.append(success_amendment(AmendmentTarget.EVALUATION, evaluation.id, evaluation.at))

    # -- work

    def add_submissions(self) -> None:
        """Add an experiment for new submissions, its slots, and new evaluations, also those of earlier submissions."""
        pending = [
            submission
            for row in self.changes.new["submissions"].values()
            if (submission := self._pending_submission(row))
        ]
        old = {s.id: s for s in self.store.find(Submission) if s.author == AUTHOR}
        evaluation_rows = list(self.changes.new["evaluations"].values())
        instances = {submission.id: submission.instance for submission in pending}
        instances |= {s.id: self.store.get(Instance, s.instance) for s in old.values()} if evaluation_rows else {}
        if pending:
            self._use_first_versions(pending, old)
            assign_slots(pending)
            humans = {kind for r in evaluation_rows if (kind := self.kinds.get(r["evaluator_id"]))}
            fed = Feedback.PEOPLE if EvaluatorKind.PERSON in humans or not humans else Feedback.JUDGE
            graded = {submission.id for submission in pending}
            whole = {protocol_of(r) for r in evaluation_rows if r["submission_id"] in graded}
            name = slug(self.out.resolve().name).strip("-")[:100] or RECORD_KEY
            experiment = experiment_of(name, self.suite, pending, whole, fed)
            self.experiment = experiment.id
            slots = slots_of(experiment, pending, self._earlier_slots(old))
            self.records += [experiment, *slots]
            feedback = self._feedback_given(pending, old, {arm.name: arm.feedback for arm in experiment.arms})
            for submission in sorted(pending, key=lambda h: h.row["k"] or 0):
                human = self._row("agents", submission.row["agent_id"])["is_human"]
                self.records += submission_records(submission, experiment, human, feedback.get(submission.id))
        submissions = {s.id: s for s in (*old.values(), *(r for r in self.records if isinstance(r, Submission)))}
        self._add_evaluations(evaluation_rows, submissions, instances)
        self.records += [
            success_amendment(AmendmentTarget.SUBMISSION, submission.id, submission.row["submission_ts"])
            for submission in pending if submission.row["k"] is None and submission.row[_FLAG] is False
        ]  # fmt: skip

    def _row(self, table: str, id: str) -> Row:
        return self.changes.by_id[table].get(id) or self.changes.stored_by_id[table][id]

    def _pending_submission(self, row: Row) -> PendingSubmission | None:
        instance = self.instances.get(row["contract_id"])
        if instance is None:
            return None
        agent = self.agents.get(row["agent_id"])
        if agent is None:
            # The agent handed work in here under a name, without an agent record.
            agent = agent_of(self.changes.stored_by_id["agents"][row["agent_id"]])
            self.agents[row["agent_id"]] = agent
            self.records.append(agent)
        entries = entries_of(
            self.store.blobs, self.changes.by_id["submissions"][row["submission_id"]], self.changes.files
        )
        self.missing += sum(e.blob is None for e in entries or () if e.kind == "file")
        return PendingSubmission(row, instance, agent, output_of(self.store.blobs, entries))

    def _use_first_versions(self, pending: Iterable[PendingSubmission], old: dict[str, Submission]) -> None:
        """Assign re-attempts to the version of the job that was attempted first."""
        first: dict[tuple[str, str], Instance] = {}
        for earlier in old.values():
            instance = self.store.get(Instance, earlier.instance)
            first.setdefault((earlier.entrant, contract_of(instance)), instance)
        for submission in pending:
            submission.instance = first.get((submission.agent.id, submission.row["contract_id"]), submission.instance)

    def _earlier_slots(self, old: dict[str, Submission]) -> dict[tuple[str, str, str, int], str]:
        """Return (agent, instance, arm, attempt) -> slot, for the submissions of earlier imports."""
        trials = {t.id: t.slot for t in self.store.find(Trial)} if old else {}
        slots = {s.id: s for s in self.store.find(Slot)} if old else {}
        found = (slots[trials[s.trial]] for s in old.values() if s.trial)
        return {(s.agent, s.instance, s.arm, s.attempt): s.id for s in found}

    def _feedback_given(
        self, pending: list[PendingSubmission], old: dict[str, Submission], arms: dict[str, Feedback]
    ) -> dict[str, Fed]:
        """Return re-attempt -> the feedback that it received: the previous attempt and its evaluations."""
        evaluations: dict[str, list[str]] = {}
        for row in self.changes.by_id["evaluations"].values():
            if row[_FLAG] is not False and row["submission_feedback"] not in (None, [], {}):
                evaluations.setdefault(row["submission_id"], []).append(
                    evaluation_id("evaluations", row["evaluation_id"])
                )
        places = {(h.agent.id, h.instance.id, *h.slot_place): h.id for h in pending if h.slot_place[1]}
        slots = {id: s for s, id in self._earlier_slots(old).items()}
        trials = {t.id: t.slot for t in self.store.find(Trial)} if old else {}
        submission_of_slot = {
            slots[trials[s.trial]]: s.id for s in old.values() if s.trial and trials[s.trial] in slots
        }
        out: dict[str, Fed] = {}
        for submission in pending:
            arm, k, repeat = submission.slot_place
            last = (submission.agent.id, submission.instance.id, *submission.place_before)
            before = places.get((*last, repeat)) or places.get((*last, 1)) or submission_of_slot.get(last)
            if k > 1 and before:
                words = sorted(evaluations.get(before, ())) if arms[arm] in _IN_WORDS else ()
                out[submission.id] = Fed(submission=before, evaluations=tuple(words))
        return out

    def _add_evaluations(
        self, rows: list[Row], submissions: dict[str, Submission], instances: dict[str, Instance]
    ) -> None:
        there = {r.id for r in self.store.find(Round)}
        for row in rows:
            subject = submissions.get(row["submission_id"])
            if subject is None:
                continue
            by = self.kinds[row["evaluator_id"]]
            protocol, evaluation = evaluation_of(row, subject, instances[subject.id], by)
            if evaluation.round not in there:
                there.add(evaluation.round)
                instances_of_experiment = {
                    s.instance: instances[s.id] for s in submissions.values() if s.experiment == subject.experiment
                }
                at = min(s.at for s in submissions.values() if s.experiment == subject.experiment)
                self.records.append(
                    round_of(subject.experiment or "", protocol, by, instances_of_experiment.values(), at)
                )
            self._add_evaluation(row, evaluation)

    # -- what changed

    def add_amendments(self) -> None:
        """Strike records whose row is no longer a successful run; restore those whose row has become one again."""
        count: dict[str, int] = {}
        for a in self.store.find(Amendment):
            count[a.target_id] = count.get(a.target_id, 0) + 1
        for name, target in (
            ("qualifications", AmendmentTarget.EVALUATION), ("evaluations", AmendmentTarget.EVALUATION),
            ("submissions", AmendmentTarget.SUBMISSION),
        ):  # fmt: skip
            for id, row in self.changes.changed[name].items():
                own = id if target is AmendmentTarget.SUBMISSION else evaluation_id(name, id)
                action = AmendmentAction.STRIKE if row[_FLAG] is False else AmendmentAction.RESTORE
                if action is AmendmentAction.RESTORE and not count.get(own):
                    self.changes.faults[f"{name}, {id[:80]}"] = (
                        "it was imported as unsuccessful, so it cannot become a successful run"
                    )
                    continue
                self.records.append(success_amendment(target, own, now(), action, count.get(own, 0)))
