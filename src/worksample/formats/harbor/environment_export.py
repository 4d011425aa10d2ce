"""Export of a package's environment as tables of Harbor's `task.toml`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from worksample.records import Environment, HealthSpec, McpSpec

PLACEHOLDERS = {"scratch": "/task/scratch"}
"""Placeholder -> path, for the placeholder that a package's `paths` do not set."""


def toml(value: Any) -> str:
    """Return a text, number, list or flat dict as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def environment_lines(environment: Environment, *, public: bool) -> list[str]:
    """Return the lines of `[environment]` and its subtables.

    public: whether the original task had the public internet and the import removed it; the export restores it.
    """
    limits = environment.limits
    hosts = sorted({server.name for server in environment.endpoints})
    network = ['network_mode = "allowlist"', f"allowed_hosts = {toml(hosts)}"] if hosts else []
    lines = ["[environment]", *(network or [f"network_mode = {toml('public' if public else 'no-network')}"])]
    lines += [f"memory_mb = {limits.memory >> 20}", f"storage_mb = {max(limits.disk >> 20, 1)}"]
    lines += [f"skills_dir = {toml(environment.skills)}"] if environment.skills else []
    if environment.health is not None:
        lines += ["", *health_lines("environment.healthcheck", environment.health)]
    for server in environment.mcp:
        lines += ["", *_mcp_lines(server, environment)]
    return lines


def health_lines(table: str, health: HealthSpec) -> list[str]:
    """Return a health check as a table with this name."""
    given = health.plain()
    return [f"[{table}]", f"command = {toml(given.pop('command'))}", *_time_lines(given)]


def _time_lines(times: dict[str, Any]) -> Iterator[str]:
    for key, value in times.items():
        yield f"{key if key == 'retries' else key + '_sec'} = {toml(value)}"


def _mcp_lines(server: McpSpec, environment: Environment) -> list[str]:
    """Return an MCP server. Harbor has no key for its environment variables, so its command begins with `env`."""
    lines = ["[[environment.mcp_servers]]", f"name = {toml(server.name)}"]
    if server.url:
        return [*lines, f"transport = {toml('sse' if server.sse else 'streamable-http')}", f"url = {toml(server.url)}"]
    words = {**environment.paths.plain(), **PLACEHOLDERS}
    argv = [_fill_paths(part, words) for part in server.argv]
    if server.env:
        argv = ["env", *(f"{key}={_fill_paths(value, words)}" for key, value in server.env.items()), *argv]
    return [*lines, 'transport = "stdio"', f"command = {toml(argv[0])}", f"args = {toml(argv[1:])}"]


def _fill_paths(text: str, words: dict[str, Any]) -> str:
    for word in ("input", "software", "output", "scratch"):
        text = text.replace("{" + word + "}", str(words[word]))
    return text


def list_line(name: str, values: Sequence[str]) -> list[str]:
    """Return a key with a list; no line for an empty list."""
    return [f"{name} = {toml(list(values))}"] if values else []
