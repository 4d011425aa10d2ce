"""Calls of judge models: ask a question, read the answer, and store both. No other module of the platform calls a
judge.
"""

from __future__ import annotations

import asyncio
import base64
import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause, JudgeError, PlanError, WorksampleError
from worksample.records import Usage
from worksample.store import put_canonical

from .call_failure import failure_of_call, reason_of, status_of
from .exhibit_delimiters import ExhibitDelimiters
from .judge_config import ModelRole
from .judge_exhibit import Exhibit
from .judge_model_cleanup import note_model
from .judge_probe import Probe, ProbeKind
from .judge_prompt import CUT, EMPTY, REFUSED, Prompt, build_prompt
from .judge_reply import JudgeReply, MalformedAnswer, malformed_answer, read_answer
from .judge_reply_schema import response_schema, supports_schema
from .model_resolver import resolve
from .request_account import CallLimit, ModelAccount, add_usage
from .token_estimate import size_of_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput

GRACE = 30.0
"""Seconds after a judge's timeout at which the platform cancels the call."""
PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Seconds to wait after the first failure of a service, and the maximum number of seconds. The wait doubles with each
further failure.
"""
WARMER = 0.5
"""Minimum temperature of a retry, for judges that have a temperature. At temperature 0 a model would repeat its
answer.
"""
NO_SCHEMA = frozenset({400, 404, 415, 422, 501})
"""HTTP statuses that may mean that the service does not support a schema for the answer."""
_SWAP = {"first": "second", "second": "first", "equal": "equal"}


@dataclass
class _Ledger:
    """Usage and stored records of all calls for one question."""

    usage: Usage = field(default_factory=Usage)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, used: Usage) -> None:
        self.usage = add_usage(self.usage, used)


class _ServiceFault(JudgeError):
    """Error for a failure of the judge's service. `passing` is True if another request may succeed. `wait` is the
    number of seconds that the service asks to wait.
    """

    def __init__(self, what: str, *, where: str, passing: bool, wait: float | None = None) -> None:
        super().__init__(what, where=where)
        self.passing, self.wait = passing, wait


async def ask_judge(role: ModelRole, probe: Probe) -> tuple[JudgeReply, Usage]:
    """Ask a judge model a question. Return its answer and the usage of all calls.

    Only this function retries a judge; neither Inspect nor a provider's client does. An answer is malformed if it is
    not one of the choices, not a single JSON object, a refusal, or has a quote that is no evidence. A question with a
    malformed answer is asked again, `tries` times in total, with new delimiters, a correction and a higher temperature.
    Temporary failures of the service are retried in addition, as often as the service's `retries` allow, within the
    judge's `timeout`.

    Raises JudgeError with its `record` and `usage`. Its cause is `judge.error` if the service failed or cannot be used;
    `judge.malformed` if no answer was readable; `judge.refused` if the judge refused to answer; `judge.limit` if a
    budget is used up. Raises StoreError if the prompt or the answer cannot be stored.
    """
    ledger = _Ledger()
    try:
        answer = await _take_answer(role, probe, ledger)
        if probe.kind is ProbeKind.PAIR:
            answer = _join_orders(answer, await _take_answer(role, probe, ledger, swapped=True))
    except JudgeError as error:
        error.record, error.usage = _record(role, ledger), ledger.usage
        raise
    return replace(answer, record=_record(role, ledger)), ledger.usage


def _join_orders(one: JudgeReply, other: JudgeReply) -> JudgeReply:
    """Join the two answers to a comparison that was asked in both orders. If the answers differ, the result is
    `equal`.
    """
    second = _SWAP[str(other.value)]
    value = str(one.value) if one.value == second else "equal"
    reasons = f"as shown: {one.value}: {one.reason}\nswapped: {other.value}: {other.reason}"
    inspected = one.inspected and other.inspected
    return JudgeReply(value, reasons, one.quotes + other.quotes, inspected=inspected, orders=(str(one.value), second))


def _record(role: ModelRole, ledger: _Ledger) -> dict[str, Any]:
    return {
        "role": role.name,
        "model": role.model,
        "version": role.version,
        "calls": ledger.calls,
        "usage": ledger.usage.plain(),
    }


async def _take_answer(role: ModelRole, probe: Probe, ledger: _Ledger, *, swapped: bool = False) -> JudgeReply:
    advice, read, faults = "", 0, 0
    until = time.monotonic() + role.config.timeout
    while True:
        put = build_prompt(probe, _draw_delimiters(probe), role.config.limits, swapped=swapped, advice=advice)
        structured = supports_schema(role.model) and role.model not in role.spent.without_schema
        try:
            return await _ask_once(role, probe, put, ledger, structured=structured, again=read > 0)
        except MalformedAnswer as error:
            read += 1
            if read >= role.config.tries:
                raise
            advice, until = error.advice, time.monotonic() + role.config.timeout
        except _ServiceFault as error:
            if structured and status_of(error) in NO_SCHEMA:
                role.spent.without_schema.add(role.model)
                continue
            faults += 1
            pause = min(LONGEST_PAUSE, PAUSE * 2 ** (faults - 1)) if error.wait is None else error.wait
            most = role.service.retries
            if not error.passing or (most is not None and faults > most) or time.monotonic() + pause > until:
                raise
            await asyncio.sleep(pause)


def _draw_delimiters(probe: Probe) -> ExhibitDelimiters:
    """Draw delimiters that occur in no exhibit. Drawing a second time is hardly ever necessary, because the nonce has
    128 bits.
    """
    while True:
        fence = ExhibitDelimiters()
        if not any(fence.nonce in e.text or fence.nonce in e.name for e in (*probe.exhibits, *probe.second)):
            return fence


async def _ask_once(
    role: ModelRole, probe: Probe, put: Prompt, ledger: _Ledger, *, structured: bool, again: bool
) -> JudgeReply:
    """Send one request to the judge and read the answer."""
    from inspect_ai.model import GenerateConfig

    config = GenerateConfig(response_schema=response_schema(probe) if structured else None)
    if again and isinstance(role.generation.get("temperature"), int | float):
        config.temperature = max(WARMER, role.generation["temperature"])
    kept: dict[str, Any] = await asyncio.to_thread(_keep_prompt, role, put, config.model_dump(exclude_none=True))
    messages, account = _messages(put), ModelAccount(role.service.prices)
    most = _highest_cost(role, messages)
    await role.spent.begin(role.name, role.config, most)
    ledger.calls.append(kept)
    try:
        with account.current():
            output = await _generate(role, messages, config)
    except JudgeError as error:
        kept["failed"] = error.what[:500]
        raise
    finally:
        used = account.close_total()
        role.spent.end(used, most)
        ledger.add(used)
    said = _answer_facts(output)
    kept["answer"] = await asyncio.to_thread(put_canonical, role.sink, said)
    try:
        return await asyncio.to_thread(read_answer, _words(output, said), probe, put.exhibits)
    except JudgeError as error:
        kept["failed"] = error.what[:500]
        raise


def _keep_prompt(role: ModelRole, put: Prompt, config: dict[str, Any]) -> dict[str, Any]:
    pictures = [role.sink.put(part.data) for part in put.parts if isinstance(part, Exhibit)]
    digests = iter(pictures)
    parts = [part if isinstance(part, str) else {"picture": next(digests), "mime": part.mime} for part in put.parts]
    put_to = {"model": role.model, "generation": {**role.generation, **config}, "system": put.system, "parts": parts}
    return {"prompt": put_canonical(role.sink, put_to), **({"pictures": pictures} if pictures else {})}


def _highest_cost(role: ModelRole, messages: Sequence[ChatMessage]) -> float:
    """Return the maximum cost of one call in US dollars; 0 if the model has no price."""
    size, price = size_of_request(messages), role.service.prices.get(role.model)
    return CallLimit(size.tokens_at_most, role.config.max_tokens, price).cost or 0.0


async def _generate(role: ModelRole, messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
    """Send one request. Raises JudgeError with the cause `judge.error` for any failure of the service or of the
    provider's client.
    """
    try:
        model = resolve(role.model, replace(role.judge_service, retries=0), role.generation)
        note_model(model)
        async with asyncio.timeout(role.config.timeout + GRACE):
            return await model.generate(messages, config=config)
    except TimeoutError as error:
        raise _ServiceFault(
            f"the judge's model did not answer within {role.config.timeout:g} seconds", where=role.model, passing=False
        ) from error
    except PlanError as error:
        # A missing key or provider is the operator's problem and must not end a round.
        raise JudgeError(error.what, where=role.model, next=error.next) from error
    except WorksampleError as error:
        raise malformed_answer(error.what, "It could not be read.") from error
    except Exception as error:
        # A provider is foreign code and raises what it likes.
        passing = failure_of_call(error).cause is Cause.MODEL_ERROR
        raise _ServiceFault(reason_of(error), where=role.model, passing=passing, wait=_retry_after(error)) from error


def _retry_after(error: BaseException | None) -> float | None:
    """Return the number of seconds that a service asks to wait. Return None if it states no number of seconds."""
    while error is not None:
        headers = getattr(getattr(error, "response", None), "headers", None)
        said = headers.get("retry-after") if headers is not None else None
        if isinstance(said, str) and re.fullmatch(r"\d{1,6}(\.\d{1,6})?", said):
            return float(said)
        error = error.__cause__
    return None


def _messages(put: Prompt) -> list[ChatMessage]:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, Content, ContentImage, ContentText

    content: list[Content] = []
    for part in put.parts:
        if isinstance(part, str):
            content.append(ContentText(text=part))
        else:
            content.append(ContentImage(image=f"data:{part.mime};base64,{base64.b64encode(part.data).decode()}"))
    return [ChatMessageSystem(content=put.system), ChatMessageUser(content=content)]


def _answer_facts(output: ModelOutput) -> dict[str, Any]:
    return {
        "completion": output.completion,
        "stop": str(output.stop_reason) if output.choices else "no choices",
        "refused": _is_refusal(output),
        "model": output.model,
        "error": output.error,
    }


def _is_refusal(output: ModelOutput) -> bool:
    if not output.choices:
        return False
    content = output.choices[0].message.content
    marked = any(getattr(part, "refusal", None) for part in content) if isinstance(content, list) else False
    return bool(marked or output.stop_reason == "content_filter")


def _words(output: ModelOutput, said: dict[str, Any]) -> str:
    """Return the text of a complete answer. Raises JudgeError if the answer is empty, cut off or a refusal."""
    if said["error"]:
        raise _ServiceFault(str(said["error"])[:600], where=output.model, passing=True)
    if said["refused"]:
        raise MalformedAnswer(f"the judge refused: {output.completion[:300]!r}", REFUSED, Cause.JUDGE_REFUSED)
    if not output.completion.strip():
        raise malformed_answer("the answer is empty", EMPTY)
    if output.stop_reason in ("max_tokens", "model_length"):
        raise malformed_answer("the answer was cut off at its limit of tokens", CUT)
    return output.completion
