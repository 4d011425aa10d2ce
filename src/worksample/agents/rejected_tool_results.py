"""Handling of requests that a model's service rejects because of tool results. These results are left out, and the work
continues.

Tool results contain data from the box, such as an unreadable picture or text that a content filter blocks. Data of this
kind must neither end a trial nor make it void.
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
"""Maximum number of characters of a rejected tool result that the transcript stores."""
ROW = 10
"""Number of consecutive rejected requests after which the agent has failed."""


@dataclass
class Rejections:
    """Record of the rejected content of one conversation. A rejected request is repeated without the newest tool
    results, and if it is rejected again, without any tool results.
    """

    model: Model
    answered: bool = False
    """True if the service has answered a request of this conversation. Rejections before the first answer are not
    failures of the agent.
    """
    _control: ControlQuestion = field(init=False)
    _row: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._control = ControlQuestion(self.model)

    async def ask(self, messages: Sequence[ChatMessage], call: Callable[[], Awaitable[ModelOutput]]) -> ModelOutput:
        """Call the model and return its answer.

        Raises AgentError (`agent.rejected`) if the service has answered earlier requests but rejects this conversation
        even without tool results, or if it rejects too many requests in a row. Raises WorksampleError (`model.refused`)
        if the first request is rejected. Other errors of the model's provider are raised unchanged.
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
    """Return the error for a rejected first request. Return the provider's own error if its status already says so."""
    return (
        error
        if status_of(error) in REFUSED
        else WorksampleError(said, cause=Cause.MODEL_REFUSED, next="worksample model check, then worksample resume")
    )


def _newest_results(messages: Sequence[ChatMessage]) -> list[ChatMessageTool]:
    """Return the tool results that follow the model's last answer."""
    last = max((i for i, one in enumerate(messages) if one.role == "assistant"), default=-1)
    return _all(messages[last + 1 :])


def _all(messages: Sequence[ChatMessage]) -> list[ChatMessageTool]:
    return [one for one in messages if one.role == "tool"]


def _leave_out(results: Sequence[ChatMessageTool], said: str) -> None:
    """Replace the content of these tool results in all messages. The transcript stores the original text."""
    from inspect_ai.log import transcript

    words = LEFT_OUT.format(clip_middle(said, 300))
    kept = [clip_middle(one.text, KEPT) for one in results if one.content != words]
    transcript().info({"rejected by the model's service": said, "left out": list(kept)}, source="rejected")
    for one in results:
        one.content, one.error = words, None


def sendable(messages: Sequence[ChatMessage], most: int | None = None) -> None:
    """Change tool results so that every service accepts them: they are valid Unicode without NUL characters and never
    empty. With `most`, the middle of texts with more than twice as many characters is left out, whatever tool they come
    from.
    """
    for one in _all(messages):
        scrub(one)
        if isinstance(one.content, str):
            one.content = one.content.replace("\0", "\ufffd") or "[no output]"
        if most is None:
            continue
        # Our own tools shorten their results, and then add a line or two.
        if isinstance(one.content, str) and len(one.content) > 2 * most:
            one.content = clip_middle(one.content, most)
        for part in one.content if isinstance(one.content, list) else ():
            if part.type == "text" and len(part.text) > 2 * most:
                part.text = clip_middle(part.text, most)
