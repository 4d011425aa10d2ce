"""Trajectory of an agent as an ATIF document (Agent Trajectory Interchange Format, Harbor RFC 0001, version 1.7)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.agents.agent_definition import version_of
from worksample.files import Sink
from worksample.models.usage import AGENT, call_usage
from worksample.records import Agent, CaptureStatus, Entry, Manifest, SubmissionPart, Usage, canonical
from worksample.store import put_canonical

if TYPE_CHECKING:
    from inspect_ai.event import Event, ModelEvent, ToolEvent
    from inspect_ai.model import ChatMessage, Content

    from worksample.models import Price

SCHEMA = "ATIF-v1.7"
NAME = "trajectory.json"
MEDIA = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


@dataclass
class TrajectoryWriter:
    """Collects the steps of a trajectory, and the pictures that are stored as files beside the document."""

    prices: Mapping[str, Price]
    steps: list[dict[str, Any]] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _called: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Steps by the id of a tool call that a command-line agent executes itself. The results of such calls appear in the
    agent's next model request.
    """

    def add_events(self, events: Sequence[Event]) -> None:
        """Add steps from the events of a transcript: one step for each model call of the agent, and one for each new
        message before it.
        """
        from inspect_ai.event import ModelEvent, ToolEvent

        results = {e.id: e for e in events if isinstance(e, ToolEvent) and not e.pending}
        for event in events:
            if isinstance(event, ModelEvent) and (event.role or AGENT) == AGENT and not event.pending:
                for message in event.input:
                    self._add_input(message, event)
                if event.error is None and event.output.choices:
                    self._add_output(event, results)

    def add_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Add steps from messages without recorded model calls, such as the output of a program."""
        for message in messages:
            source = {"system": "system", "user": "user"}.get(message.role, "agent")
            extra: dict[str, Any] = {"llm_call_count": 0} if source == "agent" else {}
            self._add(source, self._content(message.content), None, **extra)

    def _add_input(self, message: ChatMessage, event: ModelEvent) -> None:
        key = message.id or ""
        if message.role == "tool" and message.tool_call_id in self._called:
            step = self._called.pop(message.tool_call_id)
            given = {"source_call_id": message.tool_call_id, "content": self._content(message.content)}
            step.setdefault("observation", {"results": []})["results"].append(given)
        if message.role not in ("system", "user") or key in self._seen:
            return
        self._seen.add(key)
        if self.steps and not message.text:
            return  # pictures that a service only takes from the user: the tool's result already has them
        compacted = {"extra": {"context_management": "compaction"}} if "summary" in (message.metadata or {}) else {}
        self._add(message.role, self._content(message.content), event.timestamp, **compacted)

    def _add_output(self, event: ModelEvent, results: Mapping[str, ToolEvent]) -> None:
        message = event.output.choices[0].message
        step: dict[str, Any] = {"model_name": event.model, "llm_call_count": 1}
        thought = _reasoning(message)
        if thought:
            step["reasoning_content"] = thought
        calls = message.tool_calls or []
        if calls:
            step["tool_calls"] = [
                {"tool_call_id": c.id, "function_name": c.function, "arguments": c.arguments}
                | ({"extra": {"parse_error": c.parse_error}} if c.parse_error else {})
                for c in calls
            ]
            observed = [self._tool_result(results[c.id]) for c in calls if c.id in results]
            if observed:
                step["observation"] = {"results": observed}
        metrics = _metrics(event, self.prices)
        if metrics:
            step["metrics"] = metrics
        self._add("agent", message.text, event.completed or event.timestamp, **step)
        self._called |= {c.id: self.steps[-1] for c in calls if c.id not in results}

    def _tool_result(self, event: ToolEvent) -> dict[str, Any]:
        out: dict[str, Any] = {"source_call_id": event.id}
        if event.error is not None:
            return {**out, "content": event.error.message, "extra": {"error": event.error.type}}
        result = event.result
        return {**out, "content": self._content(result) if isinstance(result, list) else str(result)}

    def _content(self, content: str | Sequence[Content] | Any) -> str | list[dict[str, Any]]:
        from inspect_ai.model import ContentImage, ContentText

        if isinstance(content, str):
            return content
        parts: list[dict[str, Any]] = []
        for part in content:
            if isinstance(part, ContentText):
                parts.append({"type": "text", "text": part.text})
            elif isinstance(part, ContentImage):
                parts.append(self._picture(part.image))
        if all(p["type"] == "text" for p in parts):
            return "\n".join(p["text"] for p in parts)
        return parts

    def _picture(self, uri: str) -> dict[str, Any]:
        kind, _, data = uri.removeprefix("data:").partition(";base64,")
        try:
            content = base64.b64decode(data, validate=True)
        except binascii.Error:
            content = b""
        if kind not in MEDIA or not content:
            return {"type": "text", "text": "[a picture that was not stored]"}
        name = f"images/{len(self.pictures) + 1:04d}.{MEDIA[kind]}"
        self.pictures[name] = content
        return {"type": "image", "source": {"media_type": kind, "path": name}}

    def _add(self, source: str, message: str | list[dict[str, Any]], at: Any, **rest: Any) -> None:
        step: dict[str, Any] = {"step_id": len(self.steps) + 1, "source": source, "message": message, **rest}
        if at is not None:
            step["timestamp"] = at.isoformat()
        self.steps.append(step)


NO_STEP = {"step_id": 1, "source": "system", "message": "The work ended before its first step."}
"""The only step of a trajectory in which nothing happened. The format requires at least one step."""


def write_trajectory(
    writer: TrajectoryWriter, sink: Sink, agent: Agent, extra: Mapping[str, Any], events: Sequence[Event] = (),
    lost: Usage | None = None,
) -> SubmissionPart:  # fmt: skip
    """Write the trajectory and its pictures to the sink. Return them as the part `trajectory` of the submission.

    lost: usage of model requests whose answers never arrived, so that they belong to no step.
    """
    document = {
        "schema_version": SCHEMA,
        "session_id": extra["trial"],
        "agent": {
            "name": agent.harness,
            "version": version_of(agent),
            **({"model_name": agent.model} if agent.model else {}),
            **_tool_definitions(events),
            "extra": {"agent": agent.id},
        },
        "steps": writer.steps or [NO_STEP],
        "final_metrics": _final_metrics(writer.steps, lost),
        "extra": dict(extra),
    }
    files = {NAME: _document_bytes(document), **writer.pictures}
    entries = [Entry(path=name, size=len(data), blob=sink.put(data)) for name, data in sorted(files.items())]
    manifest = Manifest(entries=tuple(entries))
    return SubmissionPart(
        manifest=put_canonical(sink, manifest.plain()),
        status=CaptureStatus.COMPLETE,
        files=len(entries),
        size=manifest.size,
    )


def _document_bytes(document: Any) -> bytes:
    """Return the document as JSON. NaN and infinity, which a model may write into a tool call, become text."""
    try:
        return canonical(document)
    except ValueError:
        return canonical(json.loads(json.dumps(document), parse_constant=str))


def _reasoning(message: ChatMessage) -> str:
    from inspect_ai.model import ContentReasoning

    if isinstance(message.content, str):
        return ""
    return "\n".join(p.summary or p.reasoning for p in message.content if isinstance(p, ContentReasoning))


def _metrics(event: ModelEvent, prices: Mapping[str, Price]) -> dict[str, Any]:
    used = call_usage(event, prices)
    if used is None:
        return {}
    out: dict[str, Any] = {
        "prompt_tokens": used.input_tokens + used.cache_read_tokens + used.cache_write_tokens,
        "completion_tokens": used.output_tokens,
        "cached_tokens": used.cache_read_tokens,
    }
    if used.cost is not None:
        out["cost_usd"] = used.cost
    more: dict[str, Any] = {
        "cache_creation_input_tokens": used.cache_write_tokens,
        "reasoning_tokens": used.reasoning_tokens,
        "estimated": bool(used.estimated),
        "cached_as_input": bool(used.cached_as_input),
    }
    more = {key: value for key, value in more.items() if value}
    return {**out, "extra": more} if more else out


def _final_metrics(steps: Sequence[Mapping[str, Any]], lost: Usage | None = None) -> dict[str, Any]:
    metrics = [s["metrics"] for s in steps if "metrics" in s]
    out: dict[str, Any] = {
        "total_prompt_tokens": sum(m["prompt_tokens"] for m in metrics),
        "total_completion_tokens": sum(m["completion_tokens"] for m in metrics),
        "total_cached_tokens": sum(m["cached_tokens"] for m in metrics),
        "total_steps": len(steps),
    }
    if metrics and all("cost_usd" in m for m in metrics):
        out["total_cost_usd"] = sum(m["cost_usd"] for m in metrics)
    if lost is not None and lost.requests:
        out["extra"] = {"beside_the_steps": {key: value for key, value in lost.plain().items() if value}}
    return out


def _tool_definitions(events: Sequence[Event]) -> dict[str, Any]:
    """Return the definitions of the tools in the agent's first model call, in the format of function calling."""
    from inspect_ai.event import ModelEvent

    first = next((e for e in events if isinstance(e, ModelEvent) and (e.role or AGENT) == AGENT), None)
    if first is None or not first.tools:
        return {}
    definitions = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters.model_dump(mode="json", exclude_none=True),
            },
        }
        for tool in first.tools
    ]
    return {"tool_definitions": definitions}
