"""Conversation between a model and its tools. It calls the model, runs the tools, and compacts the context."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.errors import AgentError, Cause, SandboxError

from .prompt_digest import record_shown
from .rejected_tool_results import Rejections, sendable
from .tools.submit import SUBMIT
from .workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import ChatMessage, Model, ModelOutput
    from inspect_ai.solver import TaskState
    from inspect_ai.tool import ToolDef

FULL = "the conversation no longer fits in the model's context"


@dataclass
class Conversation:
    """State of a conversation. `state.messages` has all messages. The messages that are sent to the model may be
    compacted.
    """

    model: Model
    workspace: Workspace
    tools: Sequence[ToolDef]
    state: TaskState
    compact_at: float | None = 0.8
    """Size at which the conversation is compacted: a share of the model's context size, or a number of tokens if
    greater than 1. None means never.
    """
    malformed: int = 5
    """Number of consecutive tool calls that cannot be parsed after which the agent has failed."""
    mends: bool = True
    """If True, tool results that the service rejects are left out, and the model is called again."""
    _rejections: Rejections | None = field(default=None, init=False)
    _compact: Any = field(default=None, init=False)
    _first: bool = field(default=True, init=False)
    _garbled: int = field(default=0, init=False)

    async def ask_model(self) -> ModelOutput:
        """Call the model once with the messages of the conversation, and append its answer.

        Raises AgentError with the cause `limit.turns` if the model may not be called again; `limit.other` if the
        conversation does not fit into the model's context; `agent.rejected` if the service rejects content that the
        agent added.
        """
        for forced in (False, True):
            sent = await self._input(forced)
            self._check_turns()
            if self._first:
                self._first = False
                await record_shown(sent, self.tools)
            output = await self._answer(sent)
            if self._compact is not None:
                await self._compact.record_output(sent, output)
            if output.stop_reason != "model_length" or self.compact_at is None:
                break
        else:
            raise AgentError(FULL, cause=Cause.LIMIT_OTHER)
        self.state.output = output
        self.state.messages.append(output.message)
        return output

    async def _answer(self, sent: list[ChatMessage]) -> ModelOutput:
        async def call() -> ModelOutput:
            return await self.model.generate(sent, tools=list(self.tools))

        if not self.mends:
            return await call()
        if self._rejections is None:
            self._rejections = Rejections(self.model)
        return await self._rejections.ask(sent, call)

    async def run_tools(self, output: ModelOutput) -> bool:
        """Run the tool calls of an answer and append their results. Return True if the agent submitted its work.

        Raises SandboxError if the box was lost. Raises AgentError (`agent.malformed`) if too many consecutive calls
        cannot be parsed.
        """
        from inspect_ai.model import execute_tools

        calls = output.message.tool_calls or []
        if not calls:
            return False
        result = await execute_tools(self.state.messages, list(self.tools))
        sendable(result.messages)
        self.state.messages.extend(result.messages)
        self._check_box(result.messages)
        self._count_garbled(result.messages)
        done = {m.tool_call_id for m in result.messages if m.role == "tool" and m.error is None}
        return any(call.function == SUBMIT and call.id in done for call in calls)

    def add_user_message(self, text: str) -> None:
        """Append a user message."""
        from inspect_ai.model import ChatMessageUser

        self.state.messages.append(ChatMessageUser(content=text))

    async def _input(self, forced: bool) -> list[ChatMessage]:
        from inspect_ai.model import CompactionAuto, compaction

        if self.compact_at is None:
            return list(self.state.messages)
        if self._compact is None:
            strategy = CompactionAuto(threshold=int(self.compact_at) if self.compact_at > 1 else self.compact_at)
            prefix = [m for m in self.state.messages if m.role == "system" or m.source == "input"]
            self._compact = compaction(strategy, prefix, tools=list(self.tools), model=self.model)
        try:
            sent, note = await self._compact.compact_input(self.state.messages, force=forced)
        except RuntimeError as error:
            if type(error) is not RuntimeError:
                raise  # the model's service failed: its own error decides
            raise AgentError(f"{FULL}: {error}", cause=Cause.LIMIT_OTHER) from error
        if note is not None:
            self.state.messages.append(note)
        return list(sent)

    def _check_turns(self) -> None:
        from inspect_ai.util import sample_limits

        most = self.workspace.limits.turns
        if most is not None and sample_limits().turn.usage >= most:
            raise AgentError(f"the agent has used all of its {most} steps", cause=Cause.LIMIT_TURNS)

    @staticmethod
    def _check_box(messages: Sequence[ChatMessage]) -> None:
        """Raise SandboxError if a tool reported that the box was lost, because a model cannot repair this."""
        for message in messages:
            if message.role == "tool" and message.error is not None and message.error.type == "sandbox_unavailable":
                raise SandboxError(message.error.message, next="worksample resume")

    def _count_garbled(self, messages: Sequence[ChatMessage]) -> None:
        """Count the consecutive answers in which no tool call could be parsed."""
        results = [m for m in messages if m.role == "tool"]
        if not all(m.error is not None and m.error.type == "parsing" for m in results):
            self._garbled = 0
            return
        self._garbled += 1
        if self._garbled >= self.malformed:
            said = next((m.error.message for m in results if m.error), "")
            raise AgentError(
                f"the model's last {self._garbled} answers had tool calls that could not be read; the latest: {said}",
                cause=Cause.AGENT_MALFORMED,
            )


async def work(conversation: Conversation, nudges: int, nudge: str) -> str:
    """Let the model act until it submits its work. Return a description of how the conversation ended.

    An answer without a tool call gets the reply `nudge`. After `nudges` consecutive answers of this kind, the next one
    ends the work.
    """
    silent = 0
    while True:
        output = await conversation.ask_model()
        if await conversation.run_tools(output):
            return "submitted"
        if output.message.tool_calls:
            silent = 0
            continue
        silent += 1
        if silent > nudges:
            return "stopped without submitting"
        conversation.add_user_message(nudge)
