"""Import of rows of `submissions` as records: submissions, slots by attempt, trials, and the experiment of all."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from worksample.errors import Cause
from worksample.files import Sink
from worksample.files.tables.cell_values import InvalidCell
from worksample.formats.jobs.job_package import open_listed_file, relative_path
from worksample.records import (
    IMPORTED,
    Agent,
    Arm,
    CaptureStatus,
    Chain,
    Ending,
    Entry,
    EntryKind,
    Experiment,
    Fed,
    Feedback,
    Instance,
    Lock,
    Manifest,
    Origin,
    Protocol,
    Reported,
    Slot,
    Submission,
    SubmissionPart,
    Trial,
    TrialOutcome,
    Usage,
    digest_of,
    path_fault,
    quote_path,
)
from worksample.store import put_canonical
from worksample.tasks.taxonomy import slug

from .table_export import NAMED_ARMS, RECORD_KEY
from .tables import Row

AUTHOR = "import upbench"
FIRST_ATTEMPTS, RE_ATTEMPTS = "plain", "feedback"
"""Names of the arms: first attempts, and attempts after feedback."""
ATTEMPT_LIMIT, REPEAT_LIMIT = 101, 10_000
"""The largest number of attempts in a chain, and of repeats."""
TEXT_FILE = "deliverable.md"
"""The file that holds a deliverable given as text."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_MOST_ROLES, _MOST_TOKENS = 100, 10**15
_LONGEST_SECONDS = 10 * 365 * 86_400
UNSUCCESSFUL_REASON = "its row says is_successful_run false"


@dataclass
class PendingSubmission:
    """A submission to import."""

    row: Row
    instance: Instance
    agent: Agent
    output: SubmissionPart
    slot_place: tuple[str, int, int] = ("", 0, 0)
    """(arm, attempt, repeat)."""
    try_number: int = 1

    @property
    def arm(self) -> Arm:
        """The arm of the attempt: as its row says, else by its number."""
        return arm_of(self.row)

    @property
    def place_before(self) -> tuple[str, int]:
        """(arm, attempt) of the attempt that this one follows."""
        k = self.row["k"] or 1
        return (self.arm.continues or self.arm.name if k == 2 else self.arm.name), k - 1

    @property
    def id(self) -> str:
        """The id in the table, which the record keeps."""
        return str(self.row["submission_id"])


def arm_of(row: Row, fed: Feedback = Feedback.PEOPLE) -> Arm:
    """Return the arm of an attempt's row. fed: the feedback of re-attempts whose row does not name it."""
    again = (row["k"] or 1) > 1
    if row.get("arm") is None:
        return Arm(name=RE_ATTEMPTS, feedback=fed, continues=FIRST_ATTEMPTS) if again else Arm(name=FIRST_ATTEMPTS)
    kind = row.get("arm_feedback")
    feedback = Feedback(kind) if kind is not None else fed if again else Feedback.NONE
    continues = row.get("arm_continues")
    if feedback is not Feedback.NONE and continues is None:
        continues = FIRST_ATTEMPTS
    return Arm(name=row["arm"], feedback=feedback, continues=continues)


_ARM_COLUMNS = ("arm_feedback", "arm_continues", "repeat")


@dataclass
class ArmCells:
    """The columns about arms of all rows of `submissions`, which must agree. `known`: arm -> its first row."""

    known: dict[str, Row] = field(default_factory=dict)

    def check(self, row: Row) -> None:
        """Raise InvalidCell if the cells about a row's arm are wrong, or contradict those of an earlier row."""
        arm = row.get("arm")
        if arm is None:
            given = [name for name in _ARM_COLUMNS if row.get(name) is not None]
            if given:
                raise InvalidCell(f"{given[0]}: the row names no arm")
            return
        if row["k"] is None:
            raise InvalidCell("arm: only attempts, which have a k, belong to an arm")
        kinds = [kind.value for kind in Feedback]
        if row.get("arm_feedback") not in (None, *kinds):
            raise InvalidCell(f"arm_feedback: {row['arm_feedback'][:40]!r} is none of {', '.join(kinds)}")
        try:
            made = arm_of(row)
        except ValidationError:
            raise InvalidCell(f"arm: {arm[:40]!r} or the arm that it continues is not a name of an arm") from None
        if made.feedback is Feedback.NONE and made.continues is not None:
            raise InvalidCell("arm_continues: an arm without feedback continues no other")
        if made.feedback is not Feedback.NONE and row["k"] == 1:
            raise InvalidCell("arm: first attempts belong to an arm without feedback")
        if made.continues == made.name:
            raise InvalidCell("arm_continues: an arm cannot continue itself")
        if row.get("repeat") is not None and not 1 <= row["repeat"] <= REPEAT_LIMIT:
            raise InvalidCell(f"repeat: must be 1 to {REPEAT_LIMIT}")
        first = self.known.setdefault(made.name, row)
        base = self.known.setdefault(made.continues, {"k": 1, "arm": made.continues}) if made.continues else None
        if base is not None and arm_of(base).feedback is not Feedback.NONE:
            raise InvalidCell(f"arm_continues: {made.continues} has feedback itself, so it makes no first attempts")
        if arm_of(first) != made:
            raise InvalidCell(f"arm: {made.name} has another feedback, or continues another arm, in an earlier row")


def agent_of(row: Row) -> Agent:
    """Return the agent for a row of `agents`. It cannot be run."""
    name = slug(row["name"] or row["agent_id"])[:80] or "agent"
    at = row["registration_ts"]
    kept = {**row, "registration_ts": at.isoformat() if at else None}
    return Agent.of(name, IMPORTED, settings=kept)


def check_submission(row: Row) -> None:
    """Raise InvalidCell if a row cannot become a submission."""
    if not _ID.fullmatch(row["submission_id"]):
        raise InvalidCell(
            f"submission_id: {row['submission_id'][:40]!r} has characters other than letters, digits, `.`, `_` and `-`"
        )
    if row["submission_ts"] is None:
        raise InvalidCell("submission_ts: is missing")
    if row["k"] is not None and not 1 <= row["k"] <= ATTEMPT_LIMIT:
        raise InvalidCell(f"k: must be 1 to {ATTEMPT_LIMIT}")
    if row["k"] is not None and row["duration"] is None:
        raise InvalidCell("duration: is missing; only rows without k may leave it out")
    if row["duration"] is not None and row["duration"] > _LONGEST_SECONDS:
        raise InvalidCell("duration: is more than ten years")
    if row.get("steps") is not None and (row["k"] is None or not 0 <= row["steps"] <= _MOST_TOKENS):
        raise InvalidCell("steps: must be 0 or more, and only attempts, which have a k, have steps")


def usage_of(row: Row) -> dict[str, Usage]:
    """Return the usage of models of an attempt, by role. Raises InvalidCell."""
    cell = row.get("usage")
    if cell in (None, {}):
        return {}
    if row["k"] is None:
        raise InvalidCell("usage: only attempts, which have a k, have a usage of models")
    if not isinstance(cell, dict) or len(cell) > _MOST_ROLES:
        raise InvalidCell(f"usage: is not a table with a role for each of at most {_MOST_ROLES} usages")
    try:
        used = {str(role)[:100]: Usage.model_validate(one) for role, one in sorted(cell.items())}
    except ValidationError as e:
        at = e.errors()[0]
        raise InvalidCell(f"usage: {'.'.join(map(str, at['loc']))}: {at['msg']}") from None
    if any(n > _MOST_TOKENS for one in used.values() for n in one.plain().values() if isinstance(n, int | float)):
        raise InvalidCell(f"usage: a number is above {_MOST_TOKENS}")
    return used


def entries_of(sink: Sink, row: Row, files: Path) -> tuple[Entry, ...] | None:
    """Return the deliverables of a row, by path; None if the row names none. Raises InvalidCell.

    Files are read from the subfolder of `files` named by the submission's id, else from `files`. A text becomes a file;
    a web address becomes a link.
    """
    deliverables = row["deliverables"]
    if deliverables is None:
        return None
    entries: dict[str, Entry] = {}
    if isinstance(deliverables, str):
        entries[TEXT_FILE] = Entry(
            path=TEXT_FILE, size=len(deliverables.encode()), blob=sink.put(deliverables.encode())
        )
    elif isinstance(deliverables, list):
        for n, item in enumerate(deliverables):
            entry = _entry(sink, n, _file_name(item), files, row["submission_id"])
            if entry.path in entries:
                raise InvalidCell(f"deliverables: {entry.path[:80]!r} is listed twice")
            entries[entry.path] = entry
    else:
        raise InvalidCell("deliverables: is neither a list of files nor a text")
    return tuple(sorted(entries.values(), key=lambda e: e.path))


def output_of(sink: Sink, entries: tuple[Entry, ...] | None) -> SubmissionPart:
    """Return the output part of a submission with these entries."""
    manifest = Manifest(entries=entries or ())
    digest = put_canonical(sink, manifest.plain())
    if entries is None:
        return SubmissionPart(manifest=digest, status=CaptureStatus.ABSENT, reason="the table names no deliverables")
    absent = [e.path for e in manifest.files if e.blob is None]
    status = CaptureStatus.PARTIAL if absent else CaptureStatus.COMPLETE
    why = f"{len(absent)} of {len(manifest.files)} files were not there" if absent else ""
    return SubmissionPart(manifest=digest, status=status, reason=why, files=len(manifest.files), size=manifest.size)


def _file_name(item: Any) -> str:
    found = item
    if isinstance(item, dict):
        found = next((item[k] for k in ("path", "name", "filename", "file_name", "url") if item.get(k)), None)
    if not isinstance(found, str) or not found:
        raise InvalidCell("deliverables: an item has no name")
    return found


def _entry(sink: Sink, n: int, name: str, files: Path, submission: str) -> Entry:
    if "://" in name:
        return Entry(path=f"link-{n + 1:03}", kind=EntryKind.LINK, target=name)
    path = quote_path(name.encode())
    if fault := path_fault(path):
        raise InvalidCell(f"deliverables: {name[:80]!r}: {fault}")
    for folder in (files / submission, files):
        if not folder.is_dir():
            continue
        try:
            file = open_listed_file(folder, relative_path(name), name)
        except InvalidCell:
            continue
        with file:
            size = file.seek(0, 2)
            file.seek(0)
            return Entry(path=path, size=size, blob=sink.put_file(file.fileno(), size))
    return Entry(path=path, note="it was not there")


# -- experiment and slots


def assign_slots(pending: Sequence[PendingSubmission]) -> None:
    """Set arm, attempt, repeat and try of each attempt.

    Several successful runs of one attempt of an arm are repeats, numbered as their rows say or by time; failed runs are
    earlier tries of the first repeat, or of the one that their row names.
    """
    groups: dict[tuple[str, str, str, int, int], list[PendingSubmission]] = {}
    for submission in pending:
        k, arm = submission.row["k"], submission.arm.name
        if k is not None:
            repeat = submission.row.get("repeat") or 0
            key = (submission.agent.id, submission.instance.id, arm, k, repeat)
            groups.setdefault(key, []).append(submission)
    used: dict[tuple[str, str, str, int], set[int]] = {}
    for *place, repeat in groups:
        used.setdefault(tuple(place), set()).add(repeat)  # type: ignore[arg-type]
    for (agent, instance, arm, k, repeat), runs in groups.items():
        numbers = used[agent, instance, arm, k]
        free = (n for n in itertools.count(1) if n not in numbers)
        runs.sort(key=lambda submission: (submission.row["submission_ts"], submission.id))
        failed = [submission for submission in runs if submission.row["is_successful_run"] is False]
        good = [submission for submission in runs if submission.row["is_successful_run"] is not False]
        first = repeat or next(free)
        numbers.add(first)
        for n, submission in enumerate(failed, 1):
            submission.slot_place, submission.try_number = (arm, k, first), n
        for n, submission in enumerate(good):
            number = first if n == 0 else next(free)
            numbers.add(number)
            submission.slot_place, submission.try_number = (arm, k, number), len(failed) + 1 if n == 0 else 1


def experiment_of(
    name: str, suite: str, pending: Sequence[PendingSubmission], protocols: set[Protocol], fed: Feedback
) -> Experiment:
    """Return the experiment of these submissions. Its id is derived from theirs."""
    attempts = max((submission.row["k"] or 1 for submission in pending), default=1)
    arms = _arms(pending, fed)
    named = any(submission.row.get("arm") is not None for submission in pending)
    instances = tuple(sorted({submission.instance.id for submission in pending}))
    return Experiment(
        id=digest_of([RECORD_KEY, *sorted(submission.id for submission in pending)])[:24], name=name,
        agents=tuple(sorted({submission.agent.id for submission in pending})), arms=arms,
        settings={NAMED_ARMS: True} if named else {},
        repeats=max((submission.slot_place[2] for submission in pending), default=1) or 1, attempts=attempts,
        lock=Lock(
            suite=suite or digest_of(list(instances)), instances=instances,
            protocols=tuple(p for p in (Protocol.RUBRIC, Protocol.HOLISTIC) if p in protocols) or (Protocol.RUBRIC,),
            sandbox=IMPORTED, chain=Chain(reattempts=attempts - 1) if attempts > 1 else None,
        ),
        author=AUTHOR, at=min(submission.row["submission_ts"] for submission in pending),
    )  # fmt: skip


def _arms(pending: Sequence[PendingSubmission], fed: Feedback) -> tuple[Arm, ...]:
    """Return the arms of these attempts, those of first attempts before those that continue them."""
    found = {arm.name: arm for s in pending if s.row["k"] is not None for arm in (arm_of(s.row, fed),)}
    bases = {arm.continues: Arm(name=arm.continues) for arm in found.values() if arm.continues is not None}
    arms = {**bases, **found} or {FIRST_ATTEMPTS: Arm(name=FIRST_ATTEMPTS)}
    return tuple(sorted(arms.values(), key=lambda arm: (arm.continues is not None, arm.name)))


def slots_of(
    experiment: Experiment, pending: Sequence[PendingSubmission], before: Mapping[tuple[str, str, str, int], str]
) -> list[Slot]:
    """Return the slots of these submissions. before: (agent, instance, arm, attempt) -> slot of an earlier import."""
    slots: dict[tuple[str, str, str, int, int], Slot] = {}
    for submission in sorted(
        (h for h in pending if h.slot_place[1]), key=lambda h: (*h.slot_place[1:], h.slot_place[0])
    ):
        arm, attempt, repeat = submission.slot_place
        key = (submission.agent.id, submission.instance.id, arm, attempt, repeat)
        if key in slots:
            continue
        last = (submission.agent.id, submission.instance.id, *submission.place_before)
        found = slots.get((*last, repeat)) or slots.get((*last, 1))
        after = found.id if found else before.get(last)
        slots[key] = Slot(
            id=Slot.identify(experiment.id, submission.agent.id, submission.instance.id, arm, attempt, repeat),
            experiment=experiment.id, agent=submission.agent.id, instance=submission.instance.id, arm=arm,
            attempt=attempt, repeat=repeat, after=after,
        )  # fmt: skip
    return list(slots.values())


def submission_records(
    pending: PendingSubmission, experiment: Experiment, human: bool | None, fed: Fed | None
) -> list[Trial | Submission]:
    """Return the record of a submission, after that of its trial if it is an attempt."""
    row, instance = pending.row, pending.instance
    pins: dict[str, Any] = {"work": instance.work_digest, "capture": instance.capture_digest}
    fixed: dict[str, Any] = {
        "id": pending.id, "instance": instance.id, **pins, "entrant": pending.agent.id, "at": row["submission_ts"],
        "experiment": experiment.id, "parts": {"output": pending.output}, "author": AUTHOR, "note": row["notes"] or "",
    }  # fmt: skip
    if row["k"] is None:
        minutes = None if row["duration"] is None else row["duration"] / 60
        origin = Origin.PERSON if human else Origin.EXTERNAL
        return [Submission(**fixed, origin=origin, reported=Reported(minutes=minutes))]
    arm, attempt, repeat = pending.slot_place
    good = row["is_successful_run"] is not False
    trial = Trial(
        id=f"{pending.id}-trial", experiment=experiment.id, agent=pending.agent.id, instance=instance.id, **pins,
        slot=Slot.identify(experiment.id, pending.agent.id, instance.id, arm, attempt, repeat),
        try_number=pending.try_number,
        outcome=TrialOutcome(ending=Ending.DONE)
        if good else TrialOutcome(ending=Ending.FAILED, cause=Cause.CAPTURE_FAILED, reason=UNSUCCESSFUL_REASON),
        started=row["submission_ts"] - timedelta(seconds=row["duration"]), ended=row["submission_ts"],
        working_seconds=row["duration"], steps=row.get("steps") or 0, usage=usage_of(row), fed=fed, sandbox=IMPORTED,
    )  # fmt: skip
    return [trial, Submission(**fixed, origin=Origin.TRIAL, trial=trial.id)]
