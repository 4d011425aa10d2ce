"""Compaction of a conversation in tiers: clear old tool results, summarise, truncate (ALE C.4).

Each tier runs only if the tiers before it did not free enough. "Enough" is below the threshold by a margin, so that the
next steps do not compact again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    CompactionAuto,
    CompactionEdit,
    CompactionResult,
    CompactionStrategy,
    CompactionTrim,
    Model,
)

if TYPE_CHECKING:
    from inspect_ai.tool import ToolInfo

    from .harness_settings import CompactionTier

MARGIN = 0.7
"""Share of the threshold to which a tier must bring the conversation. If a tier only just met the threshold, each
further step would compact again.
"""
PRESERVED = 0.8
"""Share of the messages that one pass of truncation keeps."""


class TieredCompaction(CompactionStrategy):
    """Compaction strategy that applies the named tiers in the order clear, summarise, truncate.

    The last `keep_turns` answers of the model and their tool results are never cleared. `window` is the threshold in
    tokens.
    """

    def __init__(self, tiers: Sequence[CompactionTier], window: int, keep_turns: int) -> None:
        super().__init__(type="summary", threshold=window, memory=True)
        self._tiers = [name for name in ("clear", "summarise", "truncate") if name in tiers]
        self._window, self._keep = window, keep_turns

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """Return the compacted messages, and the summary to append to the history or None."""
        result = await self.compact_outcome(model, messages, tools)
        return result.input, result.message

    async def compact_outcome(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        """Apply one tier after another until enough is free. The result names the last tier that was applied."""
        fixed = await model.count_tool_tokens(tools) if tools else 0
        found = CompactionResult(messages, None, True, "none")
        for tier in self._tiers:
            found = await self._apply(tier, model, found, tools, fixed)
            if fixed + await model.count_tokens(found.input) <= MARGIN * self._window:
                break
        return found

    async def _apply(
        self, tier: str, model: Model, before: CompactionResult, tools: list[ToolInfo], fixed: int
    ) -> CompactionResult:
        messages = list(before.input)
        if tier == "clear":
            edit = CompactionEdit(keep_tool_uses=_recent_calls(messages, self._keep), keep_thinking_turns=self._keep)
            return await edit.compact_outcome(model, messages, tools)
        if tier == "summarise":
            try:
                return await CompactionAuto(threshold=self._window).compact_outcome(model, messages, tools)
            except RuntimeError as error:  # the summary itself does not fit: the next tier must do
                if type(error) is not RuntimeError or "truncate" not in self._tiers:
                    raise
                return before
        return await self._truncate(model, before, tools, fixed)

    async def _truncate(
        self, model: Model, before: CompactionResult, tools: list[ToolInfo], fixed: int
    ) -> CompactionResult:
        """Leave out the oldest messages until enough is free, or until nothing more can be left out."""
        trim, found = CompactionTrim(threshold=self._window, preserve=PRESERVED, memory=False), before
        while fixed + await model.count_tokens(found.input) > MARGIN * self._window:
            shorter = await trim.compact_outcome(model, list(found.input), tools)
            if len(shorter.input) >= len(found.input):
                break
            found = shorter
        kept = before.message if any(one is before.message for one in found.input) else None
        return found._replace(message=kept)


def _recent_calls(messages: Sequence[ChatMessage], turns: int) -> int:
    """Return the number of tool calls in the last answers of the model."""
    answers = [one for one in messages if isinstance(one, ChatMessageAssistant)]
    return sum(len(one.tool_calls or []) for one in answers[len(answers) - turns :]) if turns else 0
