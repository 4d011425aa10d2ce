"""What can go wrong: one tree of exceptions, one table of causes.

    WorksampleError
    ├── UsageError              the command or the call is wrong
    │   └── MissingExtra        it needs an extra that is not installed
    ├── ManifestError           a task package, suite or experiment file is wrong
    ├── PlanError               what was asked for cannot be run
    ├── StoreError              records or blobs cannot be kept or read
    │   ├── StoreFull
    │   ├── RecordConflict
    │   ├── Superseded          another process took the work over, or has done it
    │   └── RecordMissing
    ├── CaptureError            what an agent left cannot be taken in
    ├── ExportError             a state cannot be what services begin with: cut off, changed, of another version
    ├── SandboxError            the box cannot be started, or was lost
    │   ├── SandboxUnavailable
    │   └── ImageError          an image cannot be had, or is none
    ├── ModelKeyError           a model's service rejects this key
    ├── AgentError              the agent's own program failed
    ├── GraderError             a grader gave no grade
    │   └── ReferenceUnreadable
    ├── ColleagueError          who plays a colleague gave no answer
    ├── JudgeError              a judge model gave no answer
    ├── ForeignInputError       what came from outside is beyond a limit, or no JSON
    ├── ForeignWorkLost         the process that read foreign input was ended
    ├── DeliverableError        a deliverable is missing or malformed: a score of 0 with a reason, not a crash
    └── ImportFailed            a foreign package cannot be brought in
        └── FaultyRows

Every failure belongs to one boundary and is recorded once, as a `Cause`. `POLICY` says for each cause whose fault it
is, whether the work is tried again, and whether what lies in the submission is graded all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from .option_names import with_python_arguments


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
    """Why a trial did not end normally, why an evaluation failed, or what a verdict still waits for."""

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
    """The consequences of a cause."""

    boundary: Boundary
    retry: bool
    """Whether a new try of the slot, or a new evaluation of the subject, starts automatically."""
    graded: bool
    """True if the files left behind count as the agent's work and are graded."""
    description: str
    """The cause in words, for tables and reports."""
    by_deliverable: bool = False
    """True if the deliverable caused it: ungraded through no fault of ours, and 0 in lower bounds of rates."""


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
"""Causes of work that is ungraded because the evaluator could not see enough of it."""

_SPACES = {
    0x09: " ", 0xA0: " ", 0x1680: " ", **dict.fromkeys(range(0x2000, 0x200B), " "), 0x202F: " ", 0x205F: " ",
    0x3000: " ", 0xAD: "",
}  # fmt: skip
"""Tabs and all Unicode spaces, of which `str.isprintable` accepts only one, and the soft hyphen."""
_JOINERS = "\u200c\u200d"
"""Joiners of letters in Persian and Indic scripts, and of emoji."""


def plain_spaces(text: str) -> str:
    """Replace every kind of space by the plain one."""
    return text.translate(_SPACES)


def is_shown(character: str) -> bool:
    """Return whether a terminal shows a character without obeying it; line ends count."""
    return character.isprintable() or character == "\n" or character in _JOINERS


def printable(text: str) -> str:
    r"""Spell out characters that a terminal would obey or cannot show (`\x1b`); line ends stay."""
    if text.isprintable():
        return text
    return "".join(c if is_shown(c) else c.encode("unicode_escape").decode("ascii") for c in plain_spaces(text))


class WorksampleError(Exception):
    """The base of all errors: `what` went wrong, `where`, and the `next` command to type; `cause` if the failure is
    recorded.
    """

    cause: Cause | None = None

    def __init__(self, what: str, *, where: str = "", next: str = "", cause: Cause | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.next = what, where, next
        if cause is not None:
            self.cause = cause

    def __str__(self) -> str:
        """Return the error for Python users; the command line shows the fields, which speak of its options."""
        what, next = with_python_arguments(self.what), with_python_arguments(self.next)
        text = f"{self.where}: {what}" if self.where else what
        return printable(f"{text}\n  next: {next}" if next else text)


class UsageError(WorksampleError):
    """The command or the call is wrong."""


class MissingExtra(UsageError):
    """The call needs packages that are not installed; `next` is the command that installs them."""


class ManifestError(WorksampleError):
    """A task package, suite or experiment file is wrong; `where` names file and key."""


class PlanError(WorksampleError):
    """The experiment cannot be run as asked."""


class StoreError(WorksampleError):
    """Records or blobs cannot be kept or read."""

    cause = Cause.STORE_ERROR


class StoreFull(StoreError):
    """The disk of the store is full."""

    cause = Cause.STORE_FULL


class RecordConflict(StoreError):
    """The store holds a different record of the same id."""


class Superseded(StoreError):
    """Another process took the work over, or has finished it."""

    cause = Cause.SUPERSEDED


class RecordMissing(StoreError):
    """The store has no record with this id."""


class CaptureError(WorksampleError):
    """The agent's files cannot be taken in."""

    cause = Cause.CAPTURE_FAILED


class ExportError(WorksampleError):
    """An exported state is incomplete, changed, or of another version, so that services cannot start from it."""

    cause = Cause.GRADER_STATE


class SandboxError(WorksampleError):
    """The sandbox was lost, or refused an operation of ours."""

    cause = Cause.SANDBOX_LOST


class SandboxUnavailable(SandboxError):
    """This machine cannot provide a sandbox; `next` is the command to type."""

    cause = Cause.SANDBOX_START


class ImageError(SandboxError):
    """An image is missing or broken."""

    cause = Cause.SANDBOX_IMAGE


class ModelKeyError(WorksampleError):
    """A model's service rejects this key: continuing would only fail more trials."""

    cause = Cause.MODEL_KEY


class InstallError(WorksampleError):
    """A program could not be installed on this machine; the message is its installer's."""


class AgentError(WorksampleError):
    """The agent's own program failed."""

    cause = Cause.AGENT_CRASH


class GraderError(WorksampleError):
    """A grader gave no grade: the submission stays ungraded, with this reason."""

    cause = Cause.GRADER_CRASH


class ReferenceUnreadable(GraderError):
    """The grader's own reference is missing or broken: ungraded, never 0."""

    cause = Cause.GRADER_REFERENCE


class JudgeError(WorksampleError):
    """A judge model gave no valid answer. `record`: stored facts of the calls; `usage`: their usage."""

    cause = Cause.JUDGE_ERROR

    def __init__(self, what: str, *, where: str = "", next: str = "", cause: Cause | None = None) -> None:
        super().__init__(what, where=where, next=next, cause=cause)
        self.record: dict[str, object] = {}
        self.usage: object | None = None


class ColleagueError(WorksampleError):
    """A model that plays a colleague gave no answer: the colleague stays silent, and the transcript says why. `usage`:
    of the request.
    """

    def __init__(self, what: str, *, where: str = "", next: str = "", cause: Cause | None = None) -> None:
        super().__init__(what, where=where, next=next, cause=cause)
        self.usage: object | None = None


class ForeignInputError(WorksampleError):
    """Untrusted input exceeds a limit or cannot be read. `too_large`: it exceeds a limit."""

    def __init__(self, what: str, too_large: bool = False) -> None:
        super().__init__(what)
        self.too_large = too_large


class ForeignWorkLost(WorksampleError):
    """The process that read untrusted input was killed, or failed through our fault."""


class DeliverableError(WorksampleError):
    """A deliverable is missing or malformed: the part it belongs to scores 0, with this reason."""


class ImportFailed(WorksampleError):
    """A package in another format cannot be imported. `faults`: line or row -> everything wrong with it."""

    faults: Mapping[str, str] = MappingProxyType({})


class FaultyRows(ImportFailed):
    """A file of judgments, or a table of work, has wrong rows. `faults`: row -> everything wrong with it.

    `rows`: the number of rows, if known.
    """

    def __init__(
        self, faults: Mapping[str, str], next: str = "correct the file and try again", *, where: str = "", rows: int = 0
    ) -> None:
        first = [f"{row}: {text}" for row, text in list(faults.items())[:20]]
        more = [f"and {len(faults) - 20} more"] if len(faults) > 20 else []
        many = f"{len(faults)} of {rows} rows have errors" if rows else f"{len(faults)} errors"
        said = first[0] if len(first) == 1 and not rows else "\n  ".join([many, *first, *more])
        super().__init__(said, where=where, next=next)
        self.faults = dict(faults)
