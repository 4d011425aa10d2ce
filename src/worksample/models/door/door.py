"""The door itself: requests in, one call of the model each, answers out; what ends the trial is told to who waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

from inspect_ai.model import Model, ModelOutput
from inspect_ai.util import LimitExceededError

from worksample.errors import AgentError, Cause, WorksampleError
from worksample.models.blame import Control, by_request
from worksample.models.failure import REFUSED, failure_of_call, status_of
from worksample.models.sending import Sending, observed

from .asked import Asked, Refusal
from .dialects import Dialect, anthropic, gemini, openai_chat, openai_responses
from .http import BadRequest, Request, as_json, requests, response
from .memory import Memory
from .notes import note_settings
from .sound import check_sound

T = TypeVar("T")
HELD = 64 << 20
"""Bytes of all requests that a door works on at once."""
ROUTES: tuple[tuple[str, Dialect], ...] = (
    ("/chat/completions", openai_chat.DIALECT),
    ("/responses", openai_responses.DIALECT),
    ("/messages", anthropic.DIALECT),
    (":generateContent", gemini.DIALECT),
    (":streamGenerateContent", gemini.DIALECT),
)


class Door:
    """One trial's way to its model.

    Calls are made in the context of who made the door's server: they count against that sample's limits and stand in
    its transcript. A limit, or a service that fails after all its retries, ends the work: see `during`.
    """

    def __init__(self, model: Model, names: Sequence[str], turns: int | None = None) -> None:
        """names: what programs may call the model; turns: calls it may make, None for any number."""
        self.model, self.names, self.turns = model, tuple(names), turns
        self.ended: BaseException | None = None
        """What ended the work; nothing is answered from then on."""
        self.served = 0
        """Requests that were answered by the model."""
        self._begun = self._held = 0
        self._over = asyncio.Event()
        self._memory = Memory()
        self._control = Control(model)
        self._noted: set[str] = set()

    async def during(self, work: Awaitable[T]) -> T:
        """The result of `work`, which uses the door. Where a call ended the trial, `work` is cancelled and that raised.

        LimitExceededError of a limit of the sample, AgentError (`limit.turns`), WorksampleError (`model.error` and
        `model.refused`).
        """
        task: asyncio.Future[T] = asyncio.ensure_future(work)
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait((task, over), return_when=asyncio.FIRST_COMPLETED)
            if self.ended is not None:
                raise self.ended
            return await task
        finally:
            over.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait((task,))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            async for request in requests(reader, writer):
                status, kind, body = await self._answered(request)
                writer.write(response(status, body, kind, keep=request.keep))
                await writer.drain()
        except BadRequest as bad:
            body = as_json(openai_chat.fault(bad.status, bad.message, "invalid_request_error"))
            writer.write(response(bad.status, body, "application/json", keep=False))

    async def _answered(self, request: Request) -> tuple[int, str, bytes]:
        path = request.path.partition("?")[0]
        if request.method == "GET" and path.endswith("/models"):
            return 200, "application/json", as_json(self._listed())
        known = [dialect for end, dialect in ROUTES if path.endswith(end)]
        dialect = known[0] if known else openai_chat.DIALECT
        self._held += len(request.body)
        try:
            if not known or request.method != "POST":
                raise Refusal(404, f"{request.method} {path[:200]} is not served here", "not_found_error")
            if self._held > HELD:
                raise Refusal(429, f"more than {HELD} bytes of requests at once", "rate_limit_error")
            asked = self._read(dialect, request, path)
            output = await self._asked(asked)
            if asked.stream:
                return 200, "text/event-stream", b"".join(dialect.stream(output, asked))
            return 200, "application/json", as_json(dialect.answer(output, asked))
        except Refusal as refusal:
            said = dialect.fault(refusal.status, refusal.message, refusal.kind)
            return refusal.status, "application/json", as_json(said)
        finally:
            self._held -= len(request.body)

    def _listed(self) -> dict[str, Any]:
        rows = [{"id": n, "object": "model", "type": "model", "created": 0, "owned_by": "door"} for n in self.names]
        models = [{"name": f"models/{n}", "supportedGenerationMethods": ["generateContent"]} for n in self.names]
        return {"object": "list", "data": rows, "has_more": False, "models": models}

    def _read(self, dialect: Dialect, request: Request, path: str) -> Asked:
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refusal(415, "packed bodies are not taken here")
        try:
            body = json.loads(request.body)
        except (ValueError, RecursionError) as error:
            raise Refusal(400, f"the body is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise Refusal(400, "the body is not a JSON object")
        try:
            check_sound(body)
            asked = dialect.read(body, path)
        except (ValueError, RecursionError) as error:  # pydantic's, of a message or a setting that is none
            raise Refusal(400, f"the request cannot be read: {' '.join(str(error).split())[:500]}") from None
        if asked.model not in self.names:
            served = ", ".join(self.names)
            raise Refusal(404, f"model {asked.model[:100]!r} is not served here; there is {served}", "not_found_error")
        return asked

    async def _asked(self, asked: Asked) -> ModelOutput:
        """One call. Refusal, also for all that comes after the end."""
        if self.ended is None and self.turns is not None and self._begun >= self.turns:
            self._end(AgentError(f"{self.turns} steps taken", cause=Cause.LIMIT_TURNS))
        if self.ended is not None:
            raise Refusal(429, f"the work is over: {self.ended}", "insufficient_quota")
        self._begun += 1
        note_settings(asked.noted, self._noted)
        messages = asked.numbered()
        try:
            with observed() as seen:
                output = await self.model.generate(
                    self._memory.restored(messages), asked.tools, asked.choice, config=asked.config
                )
        except LimitExceededError as error:
            self._end(error)
            raise Refusal(429, f"the work is over: {error.message}", "insufficient_quota") from None
        except WorksampleError as error:
            self._end(error)
            raise Refusal(500, str(error), "api_error") from None
        except Exception as error:  # noqa: BLE001 - the boundary of a model's service, whichever package speaks to it
            failure, status = failure_of_call(error), status_of(error)
            if await self._brought_about(error, seen):
                raise Refusal(status if status in REFUSED else 400, failure.reason) from None
            self._end(WorksampleError(failure.reason, cause=failure.cause))
            raise Refusal(status or 500, failure.reason, "api_error") from None
        if output.stop_reason == "model_length":
            raise Refusal(400, "prompt is too long: maximum context length exceeded", "context_length_exceeded")
        self.served += 1
        self._memory.keep(messages, output.message)
        return output

    async def _brought_about(self, error: Exception, seen: Sending) -> bool:
        """Whether the program brought a failure about. A limit that our own question reaches ends the work."""
        try:
            return await by_request(error, seen, self._control)
        except (LimitExceededError, WorksampleError) as limit:
            self._end(limit)
            raise Refusal(429, f"the work is over: {limit}", "insufficient_quota") from None

    def _end(self, why: BaseException) -> None:
        if self.ended is None:
            self.ended = why
            self._over.set()
