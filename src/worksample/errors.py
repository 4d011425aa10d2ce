"""Errors of the platform: one tree of exceptions, and one table of causes.

    WorksampleError
    ├── UsageError              the command or the call is wrong
    │   └── MissingExtra        an extra is not installed
    ├── ManifestError           a task package, suite or experiment file is wrong
    ├── PlanError               the request cannot be run
    ├── StoreError              records or blobs cannot be stored or read
    │   ├── StoreFull
    │   ├── RecordConflict
    │   ├── Superseded          another process has taken the work over or finished it
    │   └── RecordMissing
    ├── CaptureError            an agent's files cannot be captured
    ├── ExportError             services cannot start from an exported state
    ├── SandboxError            the box cannot be started, or was lost
    │   ├── SandboxUnavailable
    │   └── ImageError          an image is missing or broken
    ├── ModelKeyError           a model's service rejects this key
    ├── AgentError              the agent's own program failed
    ├── GraderError             a grader gave no grade
    │   └── ReferenceUnreadable
    ├── ColleagueError          a colleague's model gave no answer
    ├── JudgeError              a judge model gave no answer
    ├── ForeignInputError       untrusted input exceeds a limit or cannot be read
    ├── ForeignWorkLost         the process that read untrusted input was ended
    ├── DeliverableError        a deliverable is missing or malformed: a score of 0 with a reason, not a crash
    └── ImportFailed            a package in another format cannot be imported
        └── FaultyRows

Every failure belongs to one boundary and is recorded once, as a `Cause`. For each cause `POLICY` says who is at fault,
whether the work is tried again, and whether the submission is graded nevertheless.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from .option_name_translation import with_python_arguments


class Boundary(StrEnum):
    """The party that is responsible for a failure."""

    AGENT = "agent"
    MODEL = "model"
    SANDBOX = "sandbox"
    STORE = "store"
    CAPTURE = "capture"
    GRADER = "grader"
    JUDGE = "judge"
    PERSON = "person"
    PLAN = "plan"
    PLATFORM = "platform"
    OPERATOR = "operator"


class Cause(StrEnum):
    """Cause of a failed trial or evaluation, or of a verdict that still waits."""

    LIMIT_TIME = "limit.time"
    LIMIT_COST = "limit.cost"
    LIMIT_TOKENS = "limit.tokens"
    LIMIT_TURNS = "limit.turns"
    LIMIT_MEMORY = "limit.memory"
    LIMIT_OTHER = "limit.other"
    AGENT_CRASH = "agent.crash"
    AGENT_MALFORMED = "agent.malformed"
    AGENT_REJECTED = "agent.rejected"
    AGENT_ABSENT = "agent.absent"
    AGENT_SERVICE = "agent.service"
    MODEL_ERROR = "model.error"
    MODEL_REFUSED = "model.refused"
    MODEL_KEY = "model.key"
    SANDBOX_START = "sandbox.start"
    SANDBOX_LOST = "sandbox.lost"
    SANDBOX_IMAGE = "sandbox.image"
    SERVICE_START = "service.start"
    SERVICE_LOST = "service.lost"
    SERVICE_ASKED = "service.asked"
    STORE_FULL = "store.full"
    STORE_ERROR = "store.error"
    CAPTURE_TOO_LARGE = "capture.too_large"
    CAPTURE_TOO_MANY = "capture.too_many"
    CAPTURE_UNREADABLE = "capture.unreadable"
    CAPTURE_TIME = "capture.time"
    CAPTURE_FAILED = "capture.failed"
    GRADER_CRASH = "grader.crash"
    GRADER_TIME = "grader.time"
    GRADER_MEMORY = "grader.memory"
    GRADER_OUTPUT = "grader.output"
    GRADER_MALFORMED = "grader.malformed"
    GRADER_REFERENCE = "grader.reference"
    GRADER_SANDBOX = "grader.sandbox"
    GRADER_LACKS = "grader.lacks"
    GRADER_STATE = "grader.state"
    GRADER_COLLECT = "grader.collect"
    JUDGE_ERROR = "judge.error"
    JUDGE_MALFORMED = "judge.malformed"
    JUDGE_AWAITED = "judge.awaited"
    JUDGE_REFUSED = "judge.refused"
    JUDGE_LIMIT = "judge.limit"
    JUDGE_LACKS = "judge.lacks"
    JUDGE_UNSHOWN = "judge.unshown"
    JUDGE_BLIND = "judge.blind"
    PERSON_DECLINED = "person.declined"
    PERSON_UNSHOWN = "person.unshown"
    PERSON_AWAITED = "person.awaited"
    PERSON_CONTINUES = "person.continues"
    NOT_ATTEMPTABLE = "plan.not_attemptable"
    CANCELLED = "operator.cancelled"
    PLATFORM_CRASH = "platform.crash"
    SUPERSEDED = "platform.superseded"


@dataclass(frozen=True, slots=True)
class Policy:
    """Consequences of a cause."""

    boundary: Boundary
    retry: bool
    """True if a new try of the slot, or a new evaluation of the subject, starts automatically."""
    graded: bool
    """True if the files left behind count as the agent's work and are graded."""
    description: str
    """The cause in words, for tables and reports."""
    by_deliverable: bool = False
    """True if the deliverable caused it: the submission is ungraded, and counts as 0 in lower bounds of rates."""


def _of(
    boundary: Boundary, says: str, *, retry: bool = False, graded: bool = False, by_deliverable: bool = False
) -> Policy:
    return Policy(boundary, retry, graded, says, by_deliverable)


_B = Boundary
POLICY: dict[Cause, Policy] = {
    Cause.LIMIT_TIME: _of(_B.AGENT, "ran out of time", graded=True),
    Cause.LIMIT_COST: _of(_B.AGENT, "spent its budget", graded=True),
    Cause.LIMIT_TOKENS: _of(_B.AGENT, "used up its tokens", graded=True),
    Cause.LIMIT_TURNS: _of(_B.AGENT, "used up its steps", graded=True),
    Cause.LIMIT_MEMORY: _of(_B.AGENT, "used up the sandbox's memory", graded=True),
    Cause.LIMIT_OTHER: _of(_B.AGENT, "reached a limit of the engine", graded=True),
    Cause.AGENT_CRASH: _of(_B.AGENT, "the agent's own program failed", graded=True),
    Cause.AGENT_MALFORMED: _of(_B.AGENT, "the agent's answers could not be read", graded=True),
    Cause.AGENT_REJECTED: _of(_B.AGENT, "the model's service rejects what the agent asked of it", graded=True),
    Cause.AGENT_ABSENT: _of(_B.SANDBOX, "the sandbox lacks the agent's program"),
    Cause.AGENT_SERVICE: _of(_B.AGENT, "the agent's requests killed a service of the task twice", graded=True),
    Cause.MODEL_ERROR: _of(_B.MODEL, "the model's service failed", retry=True),
    Cause.MODEL_REFUSED: _of(_B.MODEL, "the model's service rejected the request"),
    Cause.MODEL_KEY: _of(_B.MODEL, "the model's service rejects this key"),
    Cause.SANDBOX_START: _of(_B.SANDBOX, "the sandbox did not start", retry=True),
    Cause.SANDBOX_LOST: _of(_B.SANDBOX, "the sandbox died", retry=True),
    Cause.SANDBOX_IMAGE: _of(_B.SANDBOX, "the task's image is missing or broken"),
    Cause.SERVICE_START: _of(_B.SANDBOX, "a service of the task did not start", retry=True),
    Cause.SERVICE_LOST: _of(_B.SANDBOX, "a service of the task died", retry=True),
    Cause.SERVICE_ASKED: _of(_B.SANDBOX, "a service of the task died during a request of the agent", retry=True),
    Cause.STORE_FULL: _of(_B.STORE, "the disk of the store is full"),
    Cause.STORE_ERROR: _of(_B.STORE, "the store could not be written", retry=True),
    Cause.CAPTURE_TOO_LARGE: _of(_B.CAPTURE, "the deliverables are larger than allowed", graded=True),
    Cause.CAPTURE_TOO_MANY: _of(_B.CAPTURE, "there are more files than allowed", graded=True),
    Cause.CAPTURE_UNREADABLE: _of(_B.CAPTURE, "the agent left files that cannot be read", graded=True),
    Cause.CAPTURE_TIME: _of(_B.CAPTURE, "reading the deliverables took too long", graded=True),
    Cause.CAPTURE_FAILED: _of(_B.CAPTURE, "this machine could not read the deliverables", retry=True),
    Cause.GRADER_CRASH: _of(_B.GRADER, "the grader crashed", by_deliverable=True),
    Cause.GRADER_TIME: _of(_B.GRADER, "the grader ran out of time", by_deliverable=True),
    Cause.GRADER_MEMORY: _of(_B.GRADER, "the grader ran out of memory", by_deliverable=True),
    Cause.GRADER_OUTPUT: _of(_B.GRADER, "the grader printed too much", by_deliverable=True),
    Cause.GRADER_MALFORMED: _of(_B.GRADER, "the grader's answer is not a grade", by_deliverable=True),
    Cause.GRADER_REFERENCE: _of(_B.GRADER, "the grader could not read its reference"),
    Cause.GRADER_SANDBOX: _of(_B.SANDBOX, "the grading sandbox failed", retry=True),
    Cause.GRADER_LACKS: _of(_B.GRADER, "this machine lacks something that the grader needs"),
    Cause.GRADER_STATE: _of(_B.GRADER, "the workplace's state cannot be restored", by_deliverable=True),
    Cause.GRADER_COLLECT: _of(
        _B.GRADER, "files that the grader needs could not be collected in the agent's box", by_deliverable=True
    ),
    Cause.JUDGE_ERROR: _of(_B.JUDGE, "the judge's service failed", retry=True),
    Cause.JUDGE_MALFORMED: _of(_B.JUDGE, "the judge's answer is not a judgment", retry=True),
    Cause.JUDGE_AWAITED: _of(_B.JUDGE, "waits for a judge"),
    Cause.JUDGE_REFUSED: _of(_B.JUDGE, "the judge refused to answer", retry=True, by_deliverable=True),
    Cause.JUDGE_LIMIT: _of(_B.JUDGE, "the judge's budget is spent"),
    Cause.JUDGE_LACKS: _of(_B.JUDGE, "no judge is configured"),
    Cause.JUDGE_UNSHOWN: _of(_B.JUDGE, "the judge could not be shown all of the work", retry=True),
    Cause.JUDGE_BLIND: _of(_B.JUDGE, "no model can be shown this kind of work", by_deliverable=True),
    Cause.PERSON_UNSHOWN: _of(_B.PERSON, "the evaluator could not inspect the work"),
    Cause.PERSON_DECLINED: _of(_B.PERSON, "the evaluator declined"),
    Cause.PERSON_AWAITED: _of(_B.PERSON, "waits for people"),
    Cause.PERSON_CONTINUES: _of(_B.PERSON, "a person continues what the agent did"),
    Cause.NOT_ATTEMPTABLE: _of(_B.PLAN, "the agent lacks what the instance requires"),
    Cause.CANCELLED: _of(_B.OPERATOR, "stopped by the operator", retry=True),
    Cause.PLATFORM_CRASH: _of(_B.PLATFORM, "a crash of the platform itself", retry=True),
    Cause.SUPERSEDED: _of(_B.PLATFORM, "another process took the work over while this one was stopped"),
}


UNSEEN_CAUSES = frozenset({Cause.JUDGE_UNSHOWN, Cause.JUDGE_BLIND, Cause.PERSON_UNSHOWN})
"""Causes of ungraded work that the evaluator could not see sufficiently."""

_SPACES = {
    0x09: " ", 0xA0: " ", 0x1680: " ", **dict.fromkeys(range(0x2000, 0x200B), " "), 0x202F: " ", 0x205F: " ",
    0x3000: " ", 0xAD: "",
}  # fmt: skip
"""Tabs and all Unicode spaces, of which `str.isprintable` accepts only one, and the soft hyphen."""
_JOINERS = "\u200c\u200d"
"""Joiners of letters in Persian and Indic scripts, and of emoji."""


def plain_spaces(text: str) -> str:
    """Replace every kind of space by a plain space."""
    return text.translate(_SPACES)


def is_shown(character: str) -> bool:
    """Return whether a terminal displays a character and does not treat it as a control character. Line ends count as
    displayed.
    """
    return character.isprintable() or character == "\n" or character in _JOINERS


def printable(text: str) -> str:
    r"""Escape control characters and characters that a terminal cannot display (`\x1b`). Line ends stay."""
    if text.isprintable():
        return text
    return "".join(c if is_shown(c) else c.encode("unicode_escape").decode("ascii") for c in plain_spaces(text))


class WorksampleError(Exception):
    """The base of all errors: `what` went wrong, `where`, and the `next` command to type. `cause` is set if the failure
    is recorded.
    """

    cause: Cause | None = None

    def __init__(self, what: str, *, where: str = "", next: str = "", cause: Cause | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.next = what, where, next
        if cause is not None:
            self.cause = cause

    def __str__(self) -> str:
        """Return the error for Python users, with Python's arguments instead of command line options."""
        what, next = with_python_arguments(self.what), with_python_arguments(self.next)
        text = f"{self.where}: {what}" if self.where else what
        return printable(f"{text}\n  next: {next}" if next else text)


class UsageError(WorksampleError):
    """A wrong command or call."""


class MissingExtra(UsageError):
    """A call that needs packages that are not installed; `next` is the command that installs them."""


class ManifestError(WorksampleError):
    """A faulty task package, suite or experiment file; `where` names file and key."""


class PlanError(WorksampleError):
    """An experiment that cannot be run as requested."""


class StoreError(WorksampleError):
    """Records or blobs that cannot be stored or read."""

    cause = Cause.STORE_ERROR


class StoreFull(StoreError):
    """A store whose disk is full."""

    cause = Cause.STORE_FULL


class StoreUnavailable(StoreError):
    """A service of the store (object storage, database) that does not answer now, but may do so later."""


class RecordConflict(StoreError):
    """A record that contradicts one with the same id in the store."""


class Superseded(StoreError):
    """Work that another process has taken over or finished."""

    cause = Cause.SUPERSEDED


class RecordMissing(StoreError):
    """A record that the store does not have."""


class CaptureError(WorksampleError):
    """Files of the agent that cannot be captured."""

    cause = Cause.CAPTURE_FAILED


class ExportError(WorksampleError):
    """An exported state that is incomplete, changed, or of another version, so that services cannot start from it."""

    cause = Cause.GRADER_STATE


class SandboxError(WorksampleError):
    """A sandbox that was lost, or refused an operation of the platform."""

    cause = Cause.SANDBOX_LOST


class SandboxUnavailable(SandboxError):
    """A machine that cannot provide a sandbox; `next` is the command to type."""

    cause = Cause.SANDBOX_START


class ImageError(SandboxError):
    """An image that is missing or broken."""

    cause = Cause.SANDBOX_IMAGE


class ModelKeyError(WorksampleError):
    """A key that the model's service rejects. Continuing would only fail more trials."""

    cause = Cause.MODEL_KEY


class InstallError(WorksampleError):
    """A program that could not be installed on this machine; the message is the installer's."""


class AgentError(WorksampleError):
    """A failure of the agent's own program."""

    cause = Cause.AGENT_CRASH


class GraderError(WorksampleError):
    """A grader that returned no grade. The submission stays ungraded, with this reason."""

    cause = Cause.GRADER_CRASH


class ReferenceUnreadable(GraderError):
    """A grader's reference that is missing or broken. The submission stays ungraded and never scores 0 for it."""

    cause = Cause.GRADER_REFERENCE


class JudgeError(WorksampleError):
    """A judge model that gave no valid answer. `record`: stored facts of its calls; `usage`: their usage."""

    cause = Cause.JUDGE_ERROR

    def __init__(self, what: str, *, where: str = "", next: str = "", cause: Cause | None = None) -> None:
        super().__init__(what, where=where, next=next, cause=cause)
        self.record: dict[str, object] = {}
        self.usage: object | None = None


class ColleagueError(WorksampleError):
    """A colleague's model that gave no answer. The colleague stays silent, and the transcript says why. `usage`: of the
    request.
    """

    def __init__(self, what: str, *, where: str = "", next: str = "", cause: Cause | None = None) -> None:
        super().__init__(what, where=where, next=next, cause=cause)
        self.usage: object | None = None


class ForeignInputError(WorksampleError):
    """Untrusted input that exceeds a limit or cannot be read. `too_large` is True if it exceeds a limit."""

    def __init__(self, what: str, too_large: bool = False) -> None:
        super().__init__(what)
        self.too_large = too_large


class ForeignWorkLost(WorksampleError):
    """Untrusted input whose reading process was killed, or failed through the platform's fault."""


class DeliverableError(WorksampleError):
    """A deliverable that is missing or malformed. Its part of the grade scores 0, with this reason."""


class ImportFailed(WorksampleError):
    """A package in another format that cannot be imported. `faults`: line or row -> everything wrong with it."""

    faults: Mapping[str, str] = MappingProxyType({})


_OWN_VALUE = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|\d+")


def list_faults(faults: Mapping[str, str], most: int = 20, places: int = 5) -> list[str]:
    """Return lines that list faults by row, with faults that differ only in their cells' values in one line.

    most: maximum number of lines; one more says how many faults they leave out. places: rows that a line names.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for place, text in faults.items():
        groups.setdefault(_OWN_VALUE.sub("'", text), []).append((place, text))
    lines = []
    for group in list(groups.values())[:most]:
        (first, text), others = group[0], [place for place, _ in group[1:]]
        if not others:
            lines.append(f"{first}: {text}")
            continue
        kind = first.partition(" ")[0]  # "line 3" and "line 4" are "lines 3, 4"
        same_kind = kind.isalpha() and all(place.startswith(f"{kind} ") for place in others)
        shown = [place.removeprefix(f"{kind} ") if same_kind else place for place in others[: places - 1]]
        named = ", ".join([first.replace(f"{kind} ", f"{kind}s ", 1) if same_kind else first, *shown])
        rest = f" and {len(group) - places} more" if len(group) > places else ""
        same = len({said for _, said in group}) == 1
        lines.append(f"{named}{rest}: {text}{'' if same else ' (the others likewise)'}")
    hidden = sum(len(group) for group in list(groups.values())[most:])
    return [*lines, f"and {hidden} more of {len(groups) - most} other kinds"] if hidden else lines


class FaultyRows(ImportFailed):
    """A file of judgments, or a table of work, with wrong rows. `faults`: row -> everything wrong with it.

    `rows` is the number of rows, if known; `what` counts them, such as "jobs". The message lists equal faults together.
    """

    def __init__(
        self, faults: Mapping[str, str], next: str = "correct the file and try again", *, where: str = "",
        rows: int = 0, what: str = "rows",
    ) -> None:  # fmt: skip
        listed = list_faults(faults)
        many = f"{len(faults)} of {rows} {what} have errors" if rows else f"{len(faults)} errors"
        said = listed[0] if len(listed) == 1 and not rows else "\n  ".join([many, *listed])
        super().__init__(said, where=where, next=next)
        self.faults = dict(faults)
