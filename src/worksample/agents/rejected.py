"""What a model's service rejects because of what tools gave: it is taken out of the conversation, and the work goes on.

Tools give what lies in the box: a picture that nothing reads, words that a filter stops. Who brings such a thing into
the conversation does not end its trial by it, and does not void it either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from worksample.errors import AgentError, Cause, WorksampleError
from worksample.models.blame import ControlQuestion, by_request
from worksample.models.failure import REFUSED, reason_of, status_of
from worksample.models.send_observer import observe
from worksample.models.storable_text import scrub

from .workspace import clipped

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageTool, Model, ModelOutput

LEFT_OUT = "[The model's service rejected this result, and it was left out. The service said: {}]"
KEPT = 2000
"""Characters of a rejected result that the transcript keeps."""
ROW = 10
"""Requests in a row whose results of tools the service rejects, before the agent counts as failed."""


@dataclass
class Rejections:
    """One conversation's rejected content. A request that is rejected is sent again without the newest results of
    tools, then without any."""

    model: Model
    answered: bool = False
    """Whether the service has answered in this conversation: what it rejects before that is not the agent's."""
    _control: ControlQuestion = field(init=False)
    _row: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._control = ControlQuestion(self.model)

    async def ask(self, messages: Sequence[ChatMessage], call: Callable[[], Awaitable[ModelOutput]]) -> ModelOutput:
        """The answer to a conversation.

        AgentError (`agent.rejected`) where the service answers others and rejects this conversation without any result
        of a tool, or rejects what tools gave again and again; WorksampleError (`model.refused`) for a first request
        that cannot be sent; else what the model's provider raised.
        """
        left_out = 0
        for results in (_newest(messages), _all(messages), None):
            with observe() as seen:
                try:
                    output = await call()
                except WorksampleError:
                    raise
                except Exception as error:
                    if not await by_request(error, seen, self._control):
                        raise
                    said = reason_of(error)
                    if not self.answered:
                        raise _refused(error, said) from error
                    left_out += 1
                    if results is None or (left_out == 1 and self._row == ROW):
                        raise _rejected(said, self._row) from error
                    _leave_out(results, said)
                    continue
            self.answered, self._row = True, self._row + 1 if left_out else 0
            return output
        raise AssertionError("the last turn returns or raises")


def _rejected(said: str, row: int) -> AgentError:
    often = f" {row + 1} times in a row" if row == ROW else ""
    return AgentError(f"rejected by the model's service{often}: {said}", cause=Cause.AGENT_REJECTED)


def _refused(error: Exception, said: str) -> Exception:
    """A first request that is rejected: what the provider raised, where that says so."""
    return error if status_of(error) in REFUSED else WorksampleError(said, cause=Cause.MODEL_REFUSED)


def _newest(messages: Sequence[ChatMessage]) -> list[ChatMessageTool]:
    """What tools gave since the model last spoke."""
    last = max((i for i, one in enumerate(messages) if one.role == "assistant"), default=-1)
    return _all(messages[last + 1 :])


def _all(messages: Sequence[ChatMessage]) -> list[ChatMessageTool]:
    return [one for one in messages if one.role == "tool"]


def _leave_out(results: Sequence[ChatMessageTool], said: str) -> None:
    """Replace what tools gave, wherever the messages are held. The transcript keeps what it was."""
    from inspect_ai.log import transcript

    words = LEFT_OUT.format(clipped(said, 300))
    kept = [clipped(one.text, KEPT) for one in results if one.content != words]
    transcript().info({"rejected by the model's service": said, "left out": list(kept)}, source="rejected")
    for one in results:
        one.content, one.error = words, None


def sendable(messages: Sequence[ChatMessage]) -> None:
    """Make results of tools such that every service takes them: Unicode without NUL, and never nothing."""
    for one in _all(messages):
        scrub(one)
        if isinstance(one.content, str):
            one.content = one.content.replace("\0", "\ufffd") or "[no output]"
