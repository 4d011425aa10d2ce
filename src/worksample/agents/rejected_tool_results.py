"""Requests that a model's service rejects because of tool results. Those results are left out, and the work goes on.

Tool results show contents of the box, such as an unreadable picture or text that a filter blocks. An agent that brings
such content into its conversation neither ends nor voids its trial.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from worksample.errors import AgentError, Cause, WorksampleError
from worksample.models.call_failure import REFUSED, reason_of, status_of
from worksample.models.fault_attribution import ControlQuestion, is_requests_fault
from worksample.models.send_observer import observe
from worksample.models.storable_text import scrub

from .workspace import clip_middle

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageTool, Model, ModelOutput

LEFT_OUT = "[The model's service rejected this result, and it was left out. The service said: {}]"
KEPT = 2000
"""Characters of a rejected result that the transcript keeps."""
ROW = 10
"""Number of consecutive rejected requests after which the agent has failed."""


@dataclass
class Rejections:
    """Rejected content of one conversation. A rejected request is repeated without the newest tool results, then
    without any.
    """

    model: Model
    answered: bool = False
    """True if the service has answered in this conversation. Rejections before that are not the agent's fault."""
    _control: ControlQuestion = field(init=False)
    _row: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._control = ControlQuestion(self.model)

    async def ask(self, messages: Sequence[ChatMessage], call: Callable[[], Awaitable[ModelOutput]]) -> ModelOutput:
        """Call the model and return its answer.

        Raises AgentError (`agent.rejected`) if the service answers other requests but rejects this conversation without
        any tool result, or keeps rejecting tool results; WorksampleError (`model.refused`) for a first request that is
        rejected; else what the model's provider raised.
        """
        left_out = 0
        for results in (_newest_results(messages), _all(messages), None):
            with observe() as seen:
                try:
                    output = await call()
                except WorksampleError:
                    raise
                except Exception as error:
                    if not await is_requests_fault(error, seen, self._control):
                        raise
                    said = reason_of(error)
                    if not self.answered:
                        raise _refusal_error(error, said) from error
                    left_out += 1
                    if results is None or (left_out == 1 and self._row == ROW):
                        raise _rejection_error(said, self._row) from error
                    _leave_out(results, said)
                    continue
            self.answered, self._row = True, self._row + 1 if left_out else 0
            return output
        raise AssertionError("unreachable: the last turn of the loop returns or raises")


def _rejection_error(said: str, row: int) -> AgentError:
    often = f" {row + 1} times in a row" if row == ROW else ""
    return AgentError(f"the model's service rejected the agent's request{often}: {said}", cause=Cause.AGENT_REJECTED)


def _refusal_error(error: Exception, said: str) -> Exception:
    """Return the error for a rejected first request: the provider's own if its status says so."""
    return (
        error
        if status_of(error) in REFUSED
        else WorksampleError(said, cause=Cause.MODEL_REFUSED, next="worksample model check, then worksample resume")
    )


def _newest_results(messages: Sequence[ChatMessage]) -> list[ChatMessageTool]:
    """Return the tool results since the model's last answer."""
    last = max((i for i, one in enumerate(messages) if one.role == "assistant"), default=-1)
    return _all(messages[last + 1 :])


def _all(messages: Sequence[ChatMessage]) -> list[ChatMessageTool]:
    return [one for one in messages if one.role == "tool"]


def _leave_out(results: Sequence[ChatMessageTool], said: str) -> None:
    """Replace tool results in all messages that hold them. The transcript keeps the original text."""
    from inspect_ai.log import transcript

    words = LEFT_OUT.format(clip_middle(said, 300))
    kept = [clip_middle(one.text, KEPT) for one in results if one.content != words]
    transcript().info({"rejected by the model's service": said, "left out": list(kept)}, source="rejected")
    for one in results:
        one.content, one.error = words, None


def sendable(messages: Sequence[ChatMessage]) -> None:
    """Change tool results so that every service accepts them: Unicode without NUL, and never empty."""
    for one in _all(messages):
        scrub(one)
        if isinstance(one.content, str):
            one.content = one.content.replace("\0", "\ufffd") or "[no output]"
