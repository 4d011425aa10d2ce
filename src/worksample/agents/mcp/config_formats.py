"""Formats in which the configuration files of programs list MCP servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from worksample.agents.agent_script import fill_placeholders
from worksample.agents.workspace import Workspace
from worksample.records import McpSpec

PLACE = "{mcp}"
"""Placeholder for the MCP servers in a harness's configuration file. In JSON files, the string `"{mcp}"` is replaced by
an object.
"""
VARIABLE = "WORKSAMPLE_MCP"
"""Environment variable for `command` agents: the path of a file that lists the MCP servers in the most common
format.
"""


def servers_of(workspace: Workspace) -> tuple[McpSpec, ...]:
    """Return the task's MCP servers. Placeholders are replaced by the folders of the box."""
    return tuple(
        one.replaced(
            argv=tuple(fill_placeholders(part, workspace.words, raw=False) for part in one.argv),
            env={key: fill_placeholders(value, workspace.words, raw=False) for key, value in one.env.items()},
        )
        for one in workspace.instance.work.environment.mcp
    )


def _program(one: McpSpec) -> dict[str, Any]:
    return {"command": one.argv[0], "args": list(one.argv[1:]), "env": dict(one.env)}


def _manner(one: McpSpec) -> str:
    return "sse" if one.sse else "http"


def _usual(servers: Sequence[McpSpec]) -> dict[str, Any]:
    return {
        one.name: {"type": _manner(one), "url": one.url} if one.url else {"type": "stdio", **_program(one)}
        for one in servers
    }


def _gemini(servers: Sequence[McpSpec]) -> dict[str, Any]:
    return {
        one.name: {"trust": True, **({"url" if one.sse else "httpUrl": one.url} if one.url else _program(one))}
        for one in servers
    }


def _opencode(servers: Sequence[McpSpec]) -> dict[str, Any]:
    return {
        one.name: {"type": "remote", "url": one.url, "enabled": True}
        if one.url
        else {"type": "local", "command": list(one.argv), "environment": dict(one.env), "enabled": True}
        for one in servers
    }


def _openhands(servers: Sequence[McpSpec]) -> dict[str, Any]:
    return {
        one.name: {"transport": _manner(one), "url": one.url} if one.url else {"transport": "stdio", **_program(one)}
        for one in servers
    }


def _codex(servers: Sequence[McpSpec]) -> str:
    lines: list[str] = []
    for one in servers:
        lines += ["", f"[mcp_servers.{one.name}]"]
        if one.url:
            lines.append(f"url = {json.dumps(one.url)}")
            continue
        lines += [f"command = {json.dumps(one.argv[0])}", f"args = {json.dumps(list(one.argv[1:]))}"]
        lines += [f"[mcp_servers.{one.name}.env]", *(f"{key} = {json.dumps(v)}" for key, v in one.env.items())]
    return "\n".join(lines)


JSON_FORMS: dict[str, Callable[[Sequence[McpSpec]], dict[str, Any]]] = {
    "usual": _usual,
    "gemini": _gemini,
    "opencode": _opencode,
    "openhands": _openhands,
}
FORMS = (*JSON_FORMS, "codex")
WITHOUT_SSE = frozenset({"codex"})
"""Formats of programs that support only streamable HTTP, and not server-sent events."""


def fill_config(text: str, form: str, servers: Sequence[McpSpec]) -> str:
    """Replace the placeholder in a configuration file by the list of MCP servers. Return the text unchanged if it has
    no placeholder, or if the program does not support MCP servers.
    """
    if form == "codex":
        return text.replace(PLACE, _codex(servers))
    if form in JSON_FORMS:
        return text.replace(f'"{PLACE}"', json.dumps(JSON_FORMS[form](servers)))
    return text


def usual_config(servers: Sequence[McpSpec]) -> str:
    """Return a configuration file that lists MCP servers in the format that most programs read."""
    return json.dumps({"mcpServers": _usual(servers)}, indent=2)
