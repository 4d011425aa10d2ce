"""Conversation between a model and its tools. It calls the model, runs the tools, and compacts the context."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.errors import AgentError, Cause, SandboxError
from worksample.records import digest_of

from .prompt_digest import record_shown
from .rejected_tool_results import Rejections, sendable
from .tools.submit import SUBMIT
from .workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import ChatMessage, CompactionStrategy, Model, ModelOutput
    from inspect_ai.solver import TaskState
    from inspect_ai.tool import ToolCall, ToolDef

    from .harness_settings import CompactionTier

STUCK = 3
"""Multiple of `repeats` at which identical calls end the work."""
REPEATED = (
    "You made the same call {} times in a row, and each time the result was the same. Another repetition will not "
    "change it: look at the state again, and try something else."
)
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
    compaction: Sequence[CompactionTier] = ("auto",)
    """How the conversation is compacted: `auto`, or tiers of `TieredCompaction`. Empty means never."""
    keep_turns: int = 3
    repeats: int = 0
    """Number of consecutive identical calls with identical results that get a note; 0 means never."""
    delegated: bool = False
    """True for the conversation of a sub-agent. Its first request is made of the agent's own words."""
    malformed: int = 5
    """Number of consecutive tool calls that cannot be parsed after which the agent has failed."""
    mends: bool = True
    """If True, tool results that the service rejects are left out, and the model is called again."""
    _rejections: Rejections | None = field(default=None, init=False)
    _compact: Any = field(default=None, init=False)
    _first: bool = field(default=True, init=False)
    _garbled: int = field(default=0, init=False)
    _same: int = field(default=1, init=False)
    _latest: str = field(default="", init=False)

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
                if not self.delegated:
                    await record_shown(sent, self.tools)
            output = await self._answer(sent)
            if self._compact is not None:
                await self._compact.record_output(sent, output)
            if output.stop_reason != "model_length" or self._compact is None:
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
            self._rejections = Rejections(self.model, answered=self.delegated)
        return await self._rejections.ask(sent, call)

    async def run_tools(self, output: ModelOutput, ends: str = SUBMIT) -> bool:
        """Run the tool calls of an answer and append their results. Return True if the agent called the tool that ends
        its work.

        Raises SandboxError if the box was lost. Raises AgentError (`agent.malformed`) if too many consecutive calls
        cannot be parsed.
        """
        from inspect_ai.model import execute_tools

        calls = output.message.tool_calls or []
        if not calls:
            return False
        result = await execute_tools(self.state.messages, list(self.tools))
        sendable(result.messages, self.workspace.tool_output)
        self.state.messages.extend(result.messages)
        self._check_box(result.messages)
        self._count_garbled(result.messages)
        self._note_repeats(calls, result.messages)
        done = {m.tool_call_id for m in result.messages if m.role == "tool" and m.error is None}
        return any(call.function == ends and call.id in done for call in calls)

    def add_user_message(self, text: str) -> None:
        """Append a user message."""
        from inspect_ai.model import ChatMessageUser

        self.state.messages.append(ChatMessageUser(content=text))

    async def _input(self, forced: bool) -> list[ChatMessage]:
        from inspect_ai.model import compaction

        if self.compact_at is None or not self.compaction:
            return list(self.state.messages)
        if self._compact is None:
            strategy = self._strategy()
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

    def _strategy(self) -> CompactionStrategy:
        from inspect_ai.model import CompactionAuto
        from inspect_ai.model._compaction._compaction import _resolve_threshold

        assert self.compact_at is not None
        threshold = int(self.compact_at) if self.compact_at > 1 else self.compact_at
        if tuple(self.compaction) == ("auto",):
            return CompactionAuto(threshold=threshold)
        from .compaction_tiers import TieredCompaction

        return TieredCompaction(self.compaction, _resolve_threshold(self.model, threshold), self.keep_turns)

    @property
    def stuck(self) -> bool:
        """Return whether the agent has repeated the same call with the same result for too long."""
        return bool(self.repeats) and self._same >= STUCK * self.repeats

    def _note_repeats(self, calls: Sequence[ToolCall], results: Sequence[ChatMessage]) -> None:
        """Count consecutive identical calls with identical results. Add a note to the conversation if there are too
        many.
        """
        if not self.repeats:
            return
        said = digest_of([[one.function, one.arguments] for one in calls] + [_content(one) for one in results])
        self._same = self._same + 1 if said == self._latest else 1
        self._latest = said
        if self._same % self.repeats == 0 and not self.stuck:
            self.add_user_message(REPEATED.format(self._same))

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


def _content(message: ChatMessage) -> Any:
    content = message.content
    return content if isinstance(content, str) else [one.model_dump(mode="json") for one in content]


async def work(
    conversation: Conversation, nudges: int, nudge: str, *, ends: str = SUBMIT, turns: int | None = None
) -> str:
    """Let the model act until it submits its work. Return a description of how the conversation ended.

    An answer without a tool call gets the reply `nudge`. After `nudges` consecutive answers of this kind, the next one
    ends the work. A long row of identical calls with identical results ends the work, too, if `repeats` is set. `ends`
    is the name of the tool that ends the work; `turns` is the maximum number of model calls.
    """
    silent = asked = 0
    while turns is None or asked < turns:
        asked += 1
        output = await conversation.ask_model()
        if await conversation.run_tools(output, ends):
            return "submitted"
        if conversation.stuck:
            return "stopped: the agent repeated one call"
        if output.message.tool_calls:
            silent = 0
            continue
        silent += 1
        if silent > nudges:
            return "stopped without submitting"
        conversation.add_user_message(nudge)
    return f"stopped after {turns} model calls"
