"""A task's MCP servers: real ones, made with the protocol's own package, in the agent's box and behind an endpoint."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from experiments.material import an_instance
from openai_server import calls, says, serving
from worksample.agents import define
from worksample.agents.installing import find_program, program_names
from worksample.agents.installing.installer import install
from worksample.agents.mcp.config_formats import JSON_FORMS, fill_config, usual_config
from worksample.agents.mcp.server_tools import tools_in
from worksample.agents.workspace import Workspace
from worksample.box import Box, BoxConfig, Endpoint
from worksample.errors import Cause, SandboxError
from worksample.experiments.planning.agent_compatibility import why_incompatible
from worksample.records import Agent, Ending, Environment, Limits, McpSpec, ServiceLimits, ServiceSpec
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import ConnectionLedger
from worksample.sandboxes.endpoints import serve_endpoints as endpoints_serving
from worksample.sandboxes.services import open_services
from worksample.sandboxes.services.service_boxes import service_boxes
from worksample.tasks.environment import EnvironmentTable

SERVER = (Path(__file__).parent / "mcp_server.py").read_text()
TOOLS = Endpoint("tools.example.com", 8000)
INSIDE = McpSpec(name="notes", argv=("python3", "-c", SERVER, "/task/output"))
BEHIND = McpSpec(name="notes", url="http://tools.example.com:8000/mcp")
EVENTS = McpSpec(name="notes", url="http://tools.example.com:8000/sse", sse=True)
OWN = McpSpec(name="notes", url="http://127.0.0.1:8000/sse", sse=True)


def workspace(**environment: Any) -> Workspace:
    return Workspace(an_instance("task", "case", **environment), tool_output=1000)


@asynccontextmanager
async def offered(server: McpSpec, ledger: ConnectionLedger | None = None) -> AsyncIterator[dict[str, Any]]:
    """The tools of a server, by name. Its box has the package `mcp`, as the platform has."""
    argv = ("python3", "-c", SERVER, "{state}", "8000", *(["sse"] if server.sse else []))
    limits = ServiceLimits(memory=1 << 30)
    plan = service_boxes((ServiceSpec(name="n", box="n", argv=argv, ports=(8000,), limits=limits),), Path, "mcp")
    away = bool(server.url) and server != OWN
    plan = tuple(replace(one, config=replace(one.config, python="platform")) for one in plan) if away else ()
    network = ("endpoints", (TOOLS,)) if away else ("none", ())
    async with (
        open_services(plan, "bubblewrap") as services,
        open_box(BoxConfig(python="platform", network=network[0], endpoints=network[1])) as box,
        endpoints_serving(box, {TOOLS: services.target("service:n")} if away else {}, ledger),
        _in_box(box, server),
        tools_in(box, (server,), workspace()) as tools,
    ):
        yield {tool.name: tool.tool for tool in tools}


@asynccontextmanager
async def _in_box(box: Box, server: McpSpec) -> AsyncIterator[None]:
    """A server that runs in the agent's box and listens there."""
    if server != OWN:
        yield
        return
    process = await box.start(["python3", "-c", SERVER, "/task/output", "8000", "sse"])
    while True:
        try:
            (await box.dial(8000)).close()
            break
        except ConnectionRefusedError:
            await asyncio.sleep(0.05)
    yield
    await process.kill()


@pytest.mark.box
@pytest.mark.parametrize("server", [INSIDE, BEHIND, EVENTS, OWN], ids=["inside", "behind", "sse", "own-sse"])
async def test_tools_of_a_real_server_are_called_and_failures_reported(server: McpSpec) -> None:
    from inspect_ai.tool import ToolError

    ledger = ConnectionLedger()
    async with offered(server, ledger) as tools:
        assert sorted(tools) == ["notes__count", "notes__fail", "notes__keep", "notes__much"]
        assert await tools["notes__keep"](name="a.txt", text="milk") == "kept 4 characters"
        assert await tools["notes__count"]() == "1"
        assert "characters left out" in await tools["notes__much"]()
        with pytest.raises(ToolError, match="Error executing tool fail"):
            await tools["notes__fail"]()
        with pytest.raises(ToolError):
            await tools["notes__keep"](name="a.txt")
        assert await tools["notes__count"]() == "1"
    if server in (BEHIND, EVENTS):
        assert {row["endpoint"] for row in ledger.plain()} == {"tools.example.com:8000"}
        assert sum(row["sent"] for row in ledger.plain()) > 100


@pytest.mark.box
@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("python3", "-c", "print('no message'); print('{\"jsonrpc\": \"2.0\"}')"), "MCP server notes"),
        (("no-such-program",), "MCP server notes"),
    ],
)
async def test_invalid_server_is_the_tasks_fault(argv: tuple[str, ...], says: str) -> None:
    with pytest.raises(SandboxError) as raised:
        async with offered(McpSpec(name="notes", argv=argv)):
            pass
    assert raised.value.cause is Cause.SERVICE_START and says in str(raised.value)


PLAIN_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    result = {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "plain", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "keep", "description": "Keep it.", "inputSchema": {
            "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]}
    elif asked["method"] == "tools/call":
        open(sys.argv[1] + "/kept.txt", "w").write(asked["params"]["arguments"]["text"])
        result = {"content": [{"type": "text", "text": "kept it"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.mark.box
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_worker_uses_a_tasks_tools(tmp_path: Path) -> None:
    """A whole trial: the tool stands beside the worker's own, and its call in the trajectory."""
    from runs.material import setting

    worker = define("w", harness="worker", model="openai-api/local/model-1")
    mcp = (McpSpec(name="desk", argv=("python3", "-c", PLAIN_SERVER, "{output}")),)
    with serving([calls("desk__keep", text="milk"), calls("submit"), says("bye")]) as served:
        at = setting(tmp_path, agent=worker, mcp=mcp)
        (trial,) = await at.run(tries=1, model_args=served.args)
    assert trial.outcome.ending is Ending.DONE, trial.outcome
    assert at.output(trial) == {"kept.txt": b"milk"}
    first, second = served.requests[:2]
    assert {"bash", "desk__keep", "submit"} <= {tool["function"]["name"] for tool in first["tools"]}
    assert second["messages"][-1]["content"] == "kept it"


def table(**environment: Any) -> Environment:
    return EnvironmentTable.model_validate(environment).record()


@pytest.mark.parametrize(
    "server",
    [
        {"name": "a"},
        {"name": "a", "argv": ["x"], "url": "http://tools.example.com:8000/mcp"},
        {"name": "a", "url": "http://tools.example.com:8001/mcp"},
        {"name": "a", "url": "http://other.example.com:8000/mcp"},
        {"name": "a", "url": "ftp://tools.example.com:8000/mcp"},
        {"name": "a", "url": "http://user:word@tools.example.com:8000/mcp"},
        {"name": "a", "url": "http://tools.example.com:99999/mcp"},
        {"name": "a", "url": "http://tools.example.com:8000/mcp", "env": {"A": "b"}},
        {"name": "A B", "argv": ["x"]},
        {"name": "a" * 31, "argv": ["x"]},
        {"name": "a", "argv": ["x\0"]},
        {"name": "a", "argv": ["x"], "env": {"A=B": "c"}},
        {"name": "a", "argv": ["x"], "more": 1},
        {"name": "a", "argv": ["x"], "sse": True},
    ],
)
def test_invalid_server_settings_are_refused(server: dict[str, Any]) -> None:
    endpoint = {"name": "tools.example.com", "port": 8000, "to": "host"}
    with pytest.raises(ValidationError):
        table(network="endpoints", endpoint=[endpoint], mcp=[server])


def test_server_is_part_of_the_works_digest() -> None:
    with pytest.raises(ValidationError, match="the same name"):
        table(mcp=[{"name": "a", "argv": ["x"]}, {"name": "a", "argv": ["y"]}])
    assert table(mcp=[{"name": "a", "argv": ["x"]}]).mcp == (McpSpec(name="a", argv=("x",)),)
    assert "mcp" not in Environment().plain()
    plain, other = an_instance("t", "c"), an_instance("t", "c", mcp=(INSIDE,))
    assert plain.work_digest != other.work_digest


ODD = McpSpec(name="odd", argv=("x", 'a "quoted" \\ $HOME'), env={"KEY": 'v"'})


@pytest.mark.parametrize("name", program_names())
def test_each_program_gets_servers_in_its_configuration_or_cannot_attempt_it(name: str) -> None:
    program = find_program(name)
    assert program is not None
    instance = an_instance("task", "case", mcp=(ODD,))
    agent = Agent.of(name, name, settings={"argv": ["x"], "mcp": program.mcp})
    reason = why_incompatible(agent, instance)
    if not program.mcp:
        assert reason == f"brings MCP servers, which the harness {name} does not support"
        return
    assert reason == ""
    (holder,) = [(path, text) for path, text in program.files.items() if "{mcp}" in text]
    for servers in ((), (ODD, BEHIND)):
        text = fill_config(holder[1], program.mcp, servers)
        data = tomllib.loads(text) if holder[0].endswith(".toml") else json.loads(text)
        found = next((data[key] for key in ("mcpServers", "mcp_servers", "mcp") if key in data), {})
        assert sorted(found) == sorted(one.name for one in servers)
        if servers:
            assert 'a "quoted" \\ $HOME' in json.dumps(found["odd"]).encode().decode("unicode_escape").replace(
                '\\"', '"'
            ).replace("\\\\", "\\")
            assert BEHIND.url in found["notes"].values()


def test_each_program_gets_event_streams_in_its_way_or_cannot_attempt_it() -> None:
    said = {form: make((EVENTS,))["notes"] for form, make in JSON_FORMS.items()}
    assert said["usual"]["type"] == "sse" and said["openhands"]["transport"] == "sse"
    assert said["gemini"]["url"] == EVENTS.url and "httpUrl" not in said["gemini"]
    assert said["opencode"]["type"] == "remote"
    instance = an_instance("task", "case", mcp=(EVENTS,))
    codex = Agent.of("codex", "codex", settings={"argv": ["x"], "mcp": "codex"})
    assert (
        why_incompatible(codex, instance) == "brings an MCP server over SSE, which the harness codex does not support"
    )
    assert not why_incompatible(define("w", harness="worker", model="openai/gpt-5"), instance)
    assert table(mcp=[{"name": "a", "url": "http://localhost:8000/sse", "sse": True}]).mcp[0].sse


def test_other_harnesses_use_mcp_servers() -> None:
    instance = an_instance("task", "case", mcp=(ODD,))
    worker = define("w", harness="worker", model="openai/gpt-5")
    command = define("c", harness="command", settings={"argv": ["true"]})
    assert why_incompatible(worker, instance) == why_incompatible(command, instance) == ""
    one = Agent.of("o", "object", settings={"object": "a:b"})
    assert "does not support" in why_incompatible(one, instance)
    assert json.loads(usual_config((ODD,)))["mcpServers"]["odd"]["args"] == ['a "quoted" \\ $HOME']
    assert set(JSON_FORMS) < {"usual", "gemini", "opencode", "openhands", "x"}


@pytest.mark.box
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.thorough(quick="agents/test_mcp_servers.py::test_worker_uses_a_tasks_tools")
@pytest.mark.long(seconds=30)
@pytest.mark.parametrize(("harness", "tool"), [("codex", "mcp__desk__keep"), ("claude-code", "mcp__desk__keep")])
async def test_installed_program_uses_a_tasks_tools(tmp_path: Path, harness: str, tool: str) -> None:
    """The real program reads its configuration, starts the server, and calls the tool that the model names."""
    from runs.material import setting

    install(harness)
    program = define("p", harness=harness, model="openai-api/local/model-1")
    mcp = (McpSpec(name="desk", argv=("python3", "-c", PLAIN_SERVER, "{output}")),)
    limits = Limits(time=300, memory=2 << 30, disk=512 << 20)
    with serving([calls(tool, text="milk"), says("done")]) as served:
        at = setting(tmp_path, agent=program, mcp=mcp, limits=limits)
        (trial,) = await at.run(tries=1, model_args=served.args)
    assert trial.outcome.ending is Ending.DONE, trial.outcome
    assert at.output(trial) == {"kept.txt": b"milk"}
    assert "kept it" in str(served.requests[-1]["messages"][-1]["content"])
