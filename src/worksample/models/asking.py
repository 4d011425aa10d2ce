"""`ask`: a probe put to a judge's model, its answer read and kept. The one way from this platform to a judge."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause, JudgeError, PlanError, WorksampleError
from worksample.records import Usage, canonical

from .account import ModelAccount, Most, together
from .answer import Answer, malformed, read_answer
from .closing import asked
from .exhibit import Exhibit
from .fence import Fence
from .judge import Role
from .probe import Kind, Probe
from .prompt import Prompt, prompt
from .resolve import resolve
from .token_estimate import size_of_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import ChatMessage, ModelOutput

GRACE = 30.0
"""Seconds beyond a judge's own time after which a call is given up from outside."""
_SWAP = {"first": "second", "second": "first", "equal": "equal"}


@dataclass
class _Ledger:
    """What a probe's calls took, and what is kept of them."""

    usage: Usage = field(default_factory=Usage)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, used: Usage) -> None:
        self.usage = together(self.usage, used)


async def ask(role: Role, probe: Probe) -> tuple[Answer, Usage]:
    """The answer to a probe, and what it took.

    An answer that is none (outside the choices, broken JSON, a refusal, a quote that stands nowhere) is asked for
    again, `tries` times in all, each with delimiters of its own.
    Raises JudgeError with its cause, `record` and `usage`: `judge.error` where the service failed or cannot be had,
    `judge.malformed`, `judge.refused`, `judge.limit` where a cap is reached. StoreError where nothing can be kept.
    """
    ledger = _Ledger()
    try:
        answer = await _answered(role, probe, ledger)
        if probe.kind is Kind.PAIR:
            answer = _joined(answer, await _answered(role, probe, ledger, swapped=True))
    except JudgeError as error:
        error.record, error.usage = _record(role, ledger), ledger.usage
        raise
    return Answer(answer.value, answer.reason, answer.quotes, _record(role, ledger)), ledger.usage


def _joined(one: Answer, other: Answer) -> Answer:
    """Of two answers to a pair, the second with positions swapped: where they part, the two are equal."""
    second = _SWAP[str(other.value)]
    value = str(one.value) if one.value == second else "equal"
    reasons = f"as shown: {one.value}: {one.reason}\nswapped: {other.value}: {other.reason}"
    return Answer(value, reasons, one.quotes + other.quotes)


def _record(role: Role, ledger: _Ledger) -> dict[str, Any]:
    return {
        "role": role.name,
        "model": role.model,
        "version": role.version,
        "calls": ledger.calls,
        "usage": ledger.usage.plain(),
    }


async def _answered(role: Role, probe: Probe, ledger: _Ledger, *, swapped: bool = False) -> Answer:
    failed = malformed("it was never asked")
    for _ in range(role.config.tries):
        put = prompt(probe, _fence(probe), role.config.limits, swapped=swapped)
        try:
            return await _once(role, probe, put, ledger)
        except JudgeError as error:
            if error.cause not in (Cause.JUDGE_MALFORMED, Cause.JUDGE_REFUSED):
                raise
            failed = error
    raise failed


def _fence(probe: Probe) -> Fence:
    """Delimiters that stand in no exhibit; the odds that a second draw is needed are those of guessing 128 bits."""
    while True:
        fence = Fence()
        if not any(fence.nonce in e.text or fence.nonce in e.name for e in (*probe.exhibits, *probe.second)):
            return fence


async def _once(role: Role, probe: Probe, put: Prompt, ledger: _Ledger) -> Answer:
    kept: dict[str, Any] = await asyncio.to_thread(_keep_prompt, role, put)
    messages, account = _messages(put), ModelAccount(role.service.prices)
    most = _dearest(role, messages)
    await role.spent.begin(role.name, role.config, most)
    ledger.calls.append(kept)
    try:
        with account.current():
            output = await _generate(role, messages)
    except JudgeError as error:
        kept["failed"] = error.what[:500]
        raise
    finally:
        used = account.close_total()
        role.spent.end(used, most)
        ledger.add(used)
    said = _said(output)
    kept["answer"] = await asyncio.to_thread(role.sink.put, canonical(said))
    try:
        return read_answer(_words(output, said), probe, put.exhibits)
    except JudgeError as error:
        kept["failed"] = error.what[:500]
        raise


def _keep_prompt(role: Role, put: Prompt) -> dict[str, Any]:
    pictures = [role.sink.put(part.data) for part in put.parts if isinstance(part, Exhibit)]
    digests = iter(pictures)
    parts = [part if isinstance(part, str) else {"picture": next(digests), "mime": part.mime} for part in put.parts]
    put_to = {"model": role.model, "generation": role.generation, "system": put.system, "parts": parts}
    return {"prompt": role.sink.put(canonical(put_to)), **({"pictures": pictures} if pictures else {})}


def _dearest(role: Role, messages: Sequence[ChatMessage]) -> float:
    """US dollars that one call can cost at most; 0 without a price."""
    size, price = size_of_request(messages), role.service.prices.get(role.model)
    return Most(size.tokens_at_most, role.config.max_tokens, price).cost or 0.0


async def _generate(role: Role, messages: list[ChatMessage]) -> ModelOutput:
    """One call. JudgeError (`judge.error`) for whatever the service or its provider does."""
    try:
        model = resolve(role.model, role.calling, role.generation)
        asked(model)
        async with asyncio.timeout(role.config.timeout + GRACE):
            return await model.generate(messages)
    except TimeoutError as error:
        raise JudgeError(f"no answer within {role.config.timeout:g} seconds", where=role.model) from error
    except PlanError as error:
        # No key, no provider: the operator's affair, and no reason to end a round.
        raise JudgeError(error.what, where=role.model, next=error.next) from error
    except WorksampleError as error:
        raise malformed(error.what) from error
    except Exception as error:
        # A provider is foreign code and raises what it likes.
        raise JudgeError(_short(error), where=role.model) from error


def _messages(put: Prompt) -> list[ChatMessage]:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, Content, ContentImage, ContentText

    content: list[Content] = []
    for part in put.parts:
        if isinstance(part, str):
            content.append(ContentText(text=part))
        else:
            content.append(ContentImage(image=f"data:{part.mime};base64,{base64.b64encode(part.data).decode()}"))
    return [ChatMessageSystem(content=put.system), ChatMessageUser(content=content)]


def _said(output: ModelOutput) -> dict[str, Any]:
    return {
        "completion": output.completion,
        "stop": str(output.stop_reason) if output.choices else "no choices",
        "refused": _refused(output),
        "model": output.model,
        "error": output.error,
    }


def _refused(output: ModelOutput) -> bool:
    if not output.choices:
        return False
    content = output.choices[0].message.content
    marked = any(getattr(part, "refusal", None) for part in content) if isinstance(content, list) else False
    return bool(marked or output.stop_reason == "content_filter")


def _words(output: ModelOutput, said: dict[str, Any]) -> str:
    """The completion of an answer that is whole. JudgeError where there is none."""
    if said["error"]:
        raise JudgeError(str(said["error"])[:600])
    if said["refused"]:
        raise JudgeError(f"it refused: {output.completion[:300]!r}", cause=Cause.JUDGE_REFUSED)
    if not output.completion.strip():
        raise malformed("the answer is empty")
    if output.stop_reason in ("max_tokens", "model_length"):
        raise malformed("the answer was cut at its limit of tokens")
    return output.completion


def _short(error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 600 else f"{text[:600]}..."
