"""Sub-agents of the reference agent: conversations of their own, whose reports the agent gets (ALE C.4).

A sub-agent cannot delegate. It ends with a report, at its own limit of model calls, or when the agent cancels it. Only
a limit of the whole trial, a lost box or a failed model service ends the trial from inside a sub-agent.

Inspect's registry of background agents and its tools `agent_status`, `agent_wait`, `agent_cancel` and `agent_list` are
used. The sub-agents themselves are conversations of ours, so that compaction, unreadable calls and rejected requests
are handled as in the agent's own conversation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from worksample.errors import AgentError, Cause

from .conversation import Conversation, work
from .harness_settings import WorkerSettings
from .tools.library_tools import shorten_results
from .tools.tool_definition import tool_of
from .workspace import Workspace, clip_middle

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from inspect_ai.agent._deepagent.agent_tool import AgentFuture, BackgroundRegistry
    from inspect_ai.model import ChatMessage, Model, ModelOutput
    from inspect_ai.tool import ToolDef

DELEGATE, REPORT = "delegate", "report"
SYSTEM = """\
You are a sub-agent: another agent gave you a part of its work, in its own sandbox. {role}

Questions are not answered. When you are done or cannot get further, call {report} with what the other agent needs to \
know: results, paths of files, and what is open. It sees only this report. You can call a model at most {turns} times.
{network}"""
ROLES: Mapping[str, str] = {
    "general": "You have the same tools as that agent, except that you cannot delegate.",
    "explore": "You can only read. Look for what is asked, and change nothing.",
    "gui": (
        "You work with graphical programs: you see pictures of the screen or of pages, which the other agent does not "
        "see. Look at the result of each action before the next one."
    ),
}
ABOUT: Mapping[str, str] = {
    "general": "general: has your own tools",
    "explore": "explore: only reads files and pages",
    "gui": "gui: uses the browser and the desktop, which you cannot use yourself",
}
NUDGE = "Your answer called no tool. Continue by calling a tool, or call report."


@dataclass
class ChildState:
    """Messages and latest output of a sub-agent's conversation."""

    messages: list[ChatMessage]
    output: ModelOutput | None = None


@dataclass
class SubagentPool:
    """Sub-agents of one trial. `tools` holds the tools of each kind."""

    model: Model
    workspace: Workspace
    settings: WorkerSettings
    tools: Mapping[str, Sequence[ToolDef]]
    registry: BackgroundRegistry
    group: TaskGroup

    def definitions(self) -> list[ToolDef]:
        """Return the tools with which the agent delegates work, and follows and cancels its sub-agents."""
        from inspect_ai.agent._deepagent import lifecycle_tools as lifecycle

        follow = (lifecycle.agent_status(), lifecycle.agent_wait(), lifecycle.agent_cancel(), lifecycle.agent_list())
        return [self._delegate(), *(shorten_results(one, self.workspace) for one in follow)]

    def _delegate(self) -> ToolDef:
        async def execute(kind: str, task: str, background: bool = False) -> str:
            from inspect_ai.tool import ToolError

            if kind not in self.tools:
                raise ToolError(f"there is no sub-agent {kind!r}; there are: {', '.join(self.tools)}")
            if self.registry.running_count() >= self.settings.subagents_at_once:
                most = self.settings.subagents_at_once
                raise ToolError(f"{most} sub-agents work already; wait for one with agent_wait, or cancel one")
            future = self._begin(kind)
            if background:
                self.group.start_soon(self._run, future, task)
                return f"{future.agent_id} has begun. Continue your work; agent_wait returns its report."
            await self._run(future, task)
            self.registry.notified.add(future.agent_id)
            return future.result or future.error or f"{future.agent_id} was cancelled"

        kinds = "; ".join(ABOUT[kind] for kind in self.tools)
        return tool_of(
            DELEGATE,
            f"Give a part of the work to a sub-agent, which has a conversation of its own and returns a report. Kinds: "
            f"{kinds}. At most {self.settings.subagents_at_once} work at once. Sub-agents that still work when you "
            "submit are cancelled.",
            {
                "kind": ("string", f"One of {', '.join(self.tools)}.", True),
                "task": ("string", "All that the sub-agent needs to know: it sees nothing of this conversation.", True),
                "background": ("boolean", "True to continue at once; get the report with agent_wait.", False),
            },
            execute,
        )

    def _begin(self, kind: str) -> AgentFuture:
        from inspect_ai.agent._deepagent.agent_tool import AgentFuture
        from shortuuid import uuid

        future = AgentFuture(self.registry.next_id(), uuid(), kind, anyio.CancelScope(), anyio.current_time())
        self.registry.futures[future.agent_id] = future
        return future

    async def _run(self, future: AgentFuture, task: str) -> None:
        """Let a sub-agent work, and keep its report. Whatever happens, the sub-agent then counts as ended."""
        from inspect_ai.util import span

        assert future.cancel_scope is not None
        future.status = "running"
        try:
            with future.cancel_scope:
                async with span(name=future.subagent_name, type="agent", id=future.span_id):
                    future.result = clip_middle(await self._work(future, task), self.workspace.tool_output)
                future.status = "completed"
        finally:
            if future.status == "running":
                future.status = "cancelled"
            future.done.set()

    async def _work(self, future: AgentFuture, task: str) -> str:
        """Return the report of a sub-agent, or why it ended without one."""
        from inspect_ai.model import ChatMessageSystem, ChatMessageUser

        kind, settings = future.subagent_name, self.settings
        turns = settings.gui_turns if kind == "gui" else settings.subagent_turns
        system = SYSTEM.format(role=ROLES[kind], report=REPORT, turns=turns, network=self.workspace.network)
        state = ChildState([ChatMessageSystem(content=system), ChatMessageUser(content=task, source="input")])
        future.child_state = state  # type: ignore[assignment]
        reports: list[str] = []
        conversation = Conversation(
            self.model,
            self.workspace,
            [*self.tools[kind], _report(reports)],
            state,  # type: ignore[arg-type]
            compact_at=settings.compact_at,
            compaction=settings.compaction,
            keep_turns=settings.keep_turns,
            malformed=settings.malformed,
            repeats=settings.repeats,
            delegated=True,
        )
        try:
            ended = await work(conversation, settings.nudges, NUDGE, ends=REPORT, turns=turns)
        except AgentError as error:
            if error.cause is Cause.LIMIT_TURNS:  # of the whole trial
                raise
            ended = f"stopped: {error.what}"
        if reports:
            return reports[-1]
        latest = state.output.completion.strip() if state.output is not None and state.output.choices else ""
        return f"[the sub-agent {ended}, without a report]\n{latest}".strip()


def _report(reports: list[str]) -> ToolDef:
    async def execute(text: str) -> str:
        reports.append(text)
        return "The report was handed over."

    return tool_of(
        REPORT,
        "End your work and hand over your report.",
        {"text": ("string", "Results, paths of files, and what is open.", True)},
        execute,
    )


@asynccontextmanager
async def open_subagents(
    model: Model, workspace: Workspace, settings: WorkerSettings, tools: Mapping[str, Sequence[ToolDef]]
) -> AsyncIterator[list[ToolDef]]:
    """Yield the tools for sub-agents of the kinds in `tools`; no tools if there is no kind. Sub-agents that still work
    at the end are cancelled. A failure of a background sub-agent that ends the trial ends the block.
    """
    if not tools:
        yield []
        return
    from inspect_ai._util._async import unwrap_exception_group
    from inspect_ai.agent._deepagent.agent_tool import BackgroundRegistry, background_registry

    registry = BackgroundRegistry(max_background=settings.subagents_at_once)
    with background_registry(registry):
        async with unwrap_exception_group(), anyio.create_task_group() as group:
            yield SubagentPool(model, workspace, settings, tools, registry, group).definitions()
            group.cancel_scope.cancel()
