"""Obstacles of a Harbor task: requirements that cannot be met here, each with a stable name.

An instance with an obstacle cannot be attempted.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from worksample.box import is_host_name
from worksample.tasks.mcp_servers import McpTable, is_reachable

from .task_toml import HarborMcpServer, HarborStep, HarborTask, Mode

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_NO_STEP = HarborStep(name="")


def obstacles_of(task: HarborTask, folder: Path, *, without_internet: bool) -> tuple[str, ...]:
    """Return the names of a task's obstacles, in the order of `format.OBSTACLES`."""
    environment, inside = task.environment, folder / "environment"
    phases = (None, *task.steps)
    containers = [
        table for one in phases if (table := task.verifier_environment(one)) is not None and task.separate(one)
    ]
    found = {
        "harbor-compose": any(
            (inside / name).exists() for name in ("docker-compose.yaml", "docker-compose.yml", "compose.yaml")
        ),
        "harbor-image": not (inside / "Dockerfile").is_file() and not environment.docker_image,
        "harbor-gpu": any(one.gpus > 0 for one in (environment, *containers)) or bool(environment.tpu),
        "harbor-windows": any(one.os == "windows" for one in (environment, *containers)),
        "harbor-steps": any(_has_other_rights(one, task) for one in task.steps),
        "harbor-mcp": not all(_is_available(one, task) for one in environment.mcp_servers),
        "harbor-collect": any(hook.service != "main" for one in phases for hook in task.hooks(one)),
        "harbor-variable": any(
            found[2] is None
            for table in (
                environment.env,
                task.solution.env,
                *(one.env for one in containers),
                *map(task.verifier_env, phases),
            )
            for value in table.values()
            for found in VARIABLE.finditer(value)
        ),
        "harbor-hosts": any(not is_host_name(host.removeprefix("*.")) for host in task.agent_network[1]),
        "harbor-git": any(path.name == ".git" for path in inside.rglob(".git")),
        "harbor-verifier": not (folder / "tests" / "test.sh").is_file()
        and not all((folder / "steps" / one.name / "tests" / "test.sh").is_file() for one in task.steps or (_NO_STEP,)),
        "internet": task.agent_network[0] == "public" and not without_internet,
    }
    return tuple(word for word, is_there in found.items() if is_there)


def _has_other_rights(step: HarborStep, task: HarborTask) -> bool:
    """Return whether the agent has another user or network in this step than in the rest of the task."""
    network = step.agent.network_mode is not None and task.network_of(step.agent) != task.agent_network
    return network or step.agent.user not in (None, task.agent.user)


def _is_available(server: HarborMcpServer, task: HarborTask) -> bool:
    """Return whether an MCP server can run here: as a program in the box, or on an allowed host."""
    try:
        table = McpTable.model_validate(mcp_of(server))
    except ValidationError:
        return False
    if server.transport == "stdio":
        return bool(server.command)
    return server.transport in ("http", "streamable-http", "sse") and is_reachable(
        table.url, endpoints_of(task.agent_network)
    )


def mcp_of(server: HarborMcpServer) -> dict[str, str | bool | list[str]]:
    """Return a server as a table of a package's manifest."""
    if server.transport == "stdio":
        return {"name": server.name, "argv": [server.command, *server.args]}
    return {"name": server.name, "url": server.url, **({"sse": True} if server.transport == "sse" else {})}


def with_defaults(value: str) -> str:
    """Replace each `${NAME:-default}` in a value by its default, and each `${NAME}` by nothing."""
    return VARIABLE.sub(lambda found: found[2] or "", value)


def endpoints_of(network: tuple[Mode, tuple[str, ...]]) -> list[tuple[str, int]]:
    """Return (host, port) for each host of an allow list.

    The list names no ports, so each host gets 443 and 80; a wildcard host gets only 443.
    """
    mode, hosts = network
    if mode != "allowlist":
        return []
    names = [host.lower() for host in hosts if is_host_name(host.lower().removeprefix("*."))]
    return [(name, port) for name in dict.fromkeys(names) for port in ((443,) if name.startswith("*.") else (443, 80))]
