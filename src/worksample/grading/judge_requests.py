"""The broker's verb `ask`: it passes a grader's question to a judge, so that the grading box never contains a model
key.

Every call of a judge is recorded. If a judge fails, the submission stays ungraded, whatever grade the grader returns.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from worksample.errors import Cause, JudgeError, UsageError
from worksample.kit.broker_client import unpack
from worksample.models import Exhibit, JudgeReply, Look, ModelRole, Probe, ProbeKind, Roles, add_priced_usage, ask_judge
from worksample.models.judge_config import DEFAULT
from worksample.records import Usage
from worksample.sandboxes.request_broker import MalformedRequest

EXHIBITS = 200
"""Maximum number of exhibits in one question."""
QUESTION = 50_000
"""Maximum number of characters of a question, without its exhibits."""
MIMES = ("image/png",)


def parse(body: Mapping[str, Any]) -> tuple[str, Probe]:
    """Return the judge's role and the question in a request. Raises MalformedRequest if the request is malformed or
    exceeds a limit.
    """
    try:
        kind, question, role = ProbeKind(body["kind"]), body["question"], body.get("role") or DEFAULT
        if not isinstance(question, str) or len(question) > QUESTION or not isinstance(role, str):
            raise MalformedRequest(f"the question is not text, or has more than {QUESTION:,} characters")
        probe = Probe(
            kind, question, _exhibits(body.get("exhibits", [])), _exhibits(body.get("second", [])),
            tuple(_texts(body.get("options", []))), _text_table(body.get("items", {})),
            _schemas(body.get("fields", {})), quotes=bool(body.get("quotes", True)),
        )  # fmt: skip
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise MalformedRequest(f"the question cannot be read: {str(error)[:200]}") from None
    except UsageError as error:
        raise MalformedRequest(error.what) from None
    return role, probe


def _exhibits(raw: Any) -> tuple[Exhibit, ...]:
    if not isinstance(raw, list) or len(raw) > EXHIBITS:
        raise MalformedRequest(f"exhibits must be a list of at most {EXHIBITS} exhibits")
    found = []
    for item in raw:
        look = Look(item["look"])
        name, text, side = (str(item.get(key, "")) for key in ("name", "text", "side"))
        side = "the reference" if side == "reference" else ""
        data = unpack(item["data"]) if look is Look.PICTURE else b""
        found.append(Exhibit(look, name, text, data, MIMES[0], side))
    return tuple(found)


def _texts(raw: Any) -> list[str]:
    if not isinstance(raw, list) or not all(isinstance(text, str) for text in raw):
        raise MalformedRequest("options are not a list of texts")
    return raw


def _text_table(raw: Any) -> dict[str, str]:
    if not isinstance(raw, dict) or not all(isinstance(text, str) for text in raw.values()):
        raise MalformedRequest("items are not a table of texts")
    return raw


def _schemas(raw: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(raw, dict) or not all(isinstance(schema, dict) for schema in raw.values()):
        raise MalformedRequest("fields are not a table of tables")
    return raw


@dataclass
class GraderQuestions:
    """The questions that one grader asks judges. Each call adds an entry to `records`."""

    roles: Roles
    records: list[dict[str, Any]]
    usage: dict[str, Usage] = field(default_factory=dict)
    """Usage of the judges by role."""
    failed: JudgeError | None = None
    """The first failure of a judge; None if no judge failed."""

    async def ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one request. Raises MalformedRequest if the request is malformed; JudgeError if a judge fails or none
        is configured.
        """
        role, probe = parse(body)
        try:
            answer = await self._answer(role, probe)
        except JudgeError as error:
            self.failed = self.failed or error
            raise
        return {
            "value": answer.value,
            "reason": answer.reason,
            "quotes": [q.text for q in answer.quotes if q.checked],
        }

    async def _answer(self, role: str, probe: Probe) -> JudgeReply:
        judges = self.roles.get(role, ())
        if not judges:
            said = f"the grader asks the judge {role!r}, but no such judge is configured"
            raise JudgeError(said, cause=Cause.JUDGE_LACKS, next=f'write [judges.{role}] model = "..." and resume')
        answers = []
        for judge in judges:
            for _ in range(judge.config.repeats):
                answers.append(await self._ask_judge(judge, probe))
        return majority(answers)

    async def _ask_judge(self, judge: ModelRole, probe: Probe) -> JudgeReply:
        entry: dict[str, Any] = {"ask": probe.kind.value}
        self.records.append(entry)
        try:
            answer, used = await ask_judge(judge, probe)
        except JudgeError as error:
            entry |= {"failed": error.what[:500], **error.record}
            self._add(judge.name, error.usage)
            raise
        entry |= {"value": answer.value, **answer.record}
        self._add(judge.name, used)
        return answer

    def _add(self, role: str, used: object) -> None:
        if isinstance(used, Usage) and used.requests:
            self.usage[role] = add_priced_usage(self.usage[role], used) if role in self.usage else used


def majority(answers: list[JudgeReply]) -> JudgeReply:
    """Return the answer of more than half of the judges, with the reason of the first judge who gave it. Raises
    JudgeError if no answer has such a majority.
    """
    votes = Counter(json.dumps(a.value, sort_keys=True) for a in answers)
    value, count = votes.most_common(1)[0]
    if 2 * count <= len(answers):
        said = ", ".join(f"{v} ({n})" for v, n in votes.most_common())
        raise JudgeError(
            f"no answer has a majority in the panel of judges: {said[:500]}", cause=Cause.JUDGE_MALFORMED,
            next="list an odd number of models in [judges.NAME], then worksample grade EXPERIMENT",
        )  # fmt: skip
    return next(a for a in answers if json.dumps(a.value, sort_keys=True) == value)
