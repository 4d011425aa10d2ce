"""The model gateway of a trial. It turns each HTTP request of a program into one call of the trial's model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import Model, ModelOutput
from inspect_ai.util import LimitExceededError

from worksample.background_services import FailureSignal
from worksample.errors import AgentError, Cause, WorksampleError
from worksample.models.call_failure import REFUSED, failure_of_call, status_of
from worksample.models.fault_attribution import ControlQuestion, is_requests_fault
from worksample.models.send_observer import SendProgress, observe

from .conversation_memory import AnswerMemory, MessageStore, note_settings
from .dialects import Dialect, anthropic, gemini, openai_chat, openai_responses
from .http_server import HttpRequest, HttpResponse, HttpServer, as_json
from .request import ModelRequest
from .request_error import Refusal
from .request_reader import read_request

ROUTES: tuple[tuple[str, Dialect], ...] = (
    ("/chat/completions", openai_chat.DIALECT),
    ("/responses", openai_responses.DIALECT),
    ("/messages", anthropic.DIALECT),
    (":generateContent", gemini.DIALECT),
    (":streamGenerateContent", gemini.DIALECT),
)


class ModelGateway:
    """The model gateway of one trial.

    Calls run in the context in which the gateway's server was started, so they count against the limits of the trial's
    sample and appear in its transcript. The agent's work ends if a limit is reached, or if the service still fails
    after all retries (see `failure`).
    """

    def __init__(self, model: Model, names: Sequence[str], turns: int | None = None) -> None:
        """Create a gateway. `names` are the model names that programs may use. `turns` is the maximum number of calls;
        None means no maximum.
        """
        self.model, self.names, self.turns = model, tuple(names), turns
        self.failure = FailureSignal(overrules=True)
        """The failure that ends the agent's work. After a failure no request is answered.

        It is a LimitExceededError for a limit of the sample, an AgentError with the cause `limit.turns` for too many
        calls, or a WorksampleError with the cause `model.error` or `model.refused` for the service.
        """
        self.served = 0
        """Number of requests that the model answered."""
        self.http = HttpServer(self._answer, _fault)
        self._sharing = MessageStore()
        self._begun = 0
        self._memory = AnswerMemory()
        self._control = ControlQuestion(model)
        self._noted: set[str] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer all requests of one connection."""
        await self.http.serve(reader, writer)

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        path = request.path.partition("?")[0]
        if request.method in ("GET", "HEAD") and path.endswith("/models"):
            return HttpResponse(200, as_json(self._list_models()))
        known = _dialect_at(path)
        dialect = known or openai_chat.DIALECT
        try:
            if known is None or request.method != "POST":
                raise Refusal(
                    404, f"{request.method} {path[:200]} is not an endpoint of this gateway", "not_found_error"
                )
            asked = await self._read_request(dialect, request, path)
            output = await self._call_model(asked)
            if asked.stream:
                return HttpResponse(200, b"".join(dialect.stream(output, asked)), "text/event-stream")
            return HttpResponse(200, as_json(dialect.answer(output, asked)))
        except Refusal as refusal:
            return HttpResponse(refusal.status, as_json(dialect.fault(refusal.status, refusal.message, refusal.kind)))

    def _list_models(self) -> dict[str, Any]:
        rows = [{"id": n, "object": "model", "type": "model", "created": 0, "owned_by": "door"} for n in self.names]
        models = [{"name": f"models/{n}", "supportedGenerationMethods": ["generateContent"]} for n in self.names]
        return {"object": "list", "data": rows, "has_more": False, "models": models}

    async def _read_request(self, dialect: Dialect, request: HttpRequest, path: str) -> ModelRequest:
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refusal(415, "compressed bodies are not supported")
        asked = await read_request(dialect, request.body, path)
        if asked.model not in self.names:
            served = ", ".join(self.names)
            raise Refusal(
                404, f"model {asked.model[:100]!r} is not available from this gateway; use {served}", "not_found_error"
            )
        self._sharing.share(asked)
        return asked

    async def _call_model(self, asked: ModelRequest) -> ModelOutput:
        """Call the model once. Raises Refusal if the call fails, or if the agent's work has already ended."""
        if self.failure.error is None and self.turns is not None and self._begun >= self.turns:
            self.failure.fail(AgentError(f"the agent has used all of its {self.turns} steps", cause=Cause.LIMIT_TURNS))
        if self.failure.error is not None:
            raise Refusal(429, f"the trial has ended: {self.failure.error}", "insufficient_quota")
        self._begun += 1
        note_settings(asked.ignored_settings, self._noted)
        messages = asked.number_messages()
        try:
            with observe() as seen:
                output = await self.model.generate(
                    self._memory.restore(messages), asked.tools, asked.choice, config=asked.config
                )
        except LimitExceededError as error:
            self.failure.fail(error)
            raise Refusal(429, f"the trial has ended: {error.message}", "insufficient_quota") from None
        except WorksampleError as error:
            self.failure.fail(error)
            raise Refusal(500, str(error), "api_error") from None
        except Exception as error:  # noqa: BLE001 - the boundary of a model's service, whichever package speaks to it
            failure, status = failure_of_call(error), status_of(error)
            if await self._is_programs_fault(error, seen):
                raise Refusal(status if status in REFUSED else 400, failure.reason) from None
            self.failure.fail(
                WorksampleError(
                    failure.reason, cause=failure.cause, next="worksample model check, then worksample resume"
                )
            )
            raise Refusal(status or 500, failure.reason, "api_error") from None
        if output.stop_reason == "model_length":
            raise Refusal(400, "prompt is too long: maximum context length exceeded", "context_length_exceeded")
        self.served += 1
        self._memory.keep(messages, output.message)
        return output

    async def _is_programs_fault(self, error: Exception, seen: SendProgress) -> bool:
        """Return whether the program, and not the service, caused a failure. If the control question exceeds a limit,
        the agent's work ends.
        """
        try:
            return await is_requests_fault(error, seen, self._control)
        except (LimitExceededError, WorksampleError) as limit:
            self.failure.fail(limit)
            raise Refusal(429, f"the trial has ended: {limit}", "insufficient_quota") from None


def _dialect_at(path: str) -> Dialect | None:
    return next((dialect for end, dialect in ROUTES if path.endswith(end)), None)


KINDS = {408: "timeout_error", 429: "rate_limit_error", 500: "api_error"}


def _fault(status: int, message: str, path: str) -> bytes:
    """Return the body of the error response to an unreadable request. The path of the request decides the dialect of
    the response.
    """
    dialect = _dialect_at(path.partition("?")[0]) or openai_chat.DIALECT
    return as_json(dialect.fault(status, message, KINDS.get(status, "invalid_request_error")))
