"""The tables `[[environment.mcp]]` of `task.toml`: MCP servers whose tools the agent can use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from worksample.files.config_files import AllowedText, Flag, value_fault
from worksample.records import Frozen, McpSpec

from .task_services import Text, Variable, Word

PORTS = {"http": 80, "https": 443}
OWN = ("localhost", "127.0.0.1")
"""Host names of the agent's own box. A server with such an address runs in this box."""


def _url(text: str) -> str:
    place_of(text)
    return text


def place_of(url: str) -> tuple[str, int]:
    """Return the host and the port in a server's address. Raises a validation fault if the address is malformed."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise value_fault() from None
    if parts.scheme not in PORTS or not parts.hostname or parts.username or parts.fragment or not url.isprintable():
        raise value_fault()
    return parts.hostname, port


def is_reachable(url: str, endpoints: Collection[tuple[str, int]]) -> bool:
    """Return whether the agent's box can connect to a server's address: it names an endpoint of the task, or the box
    itself.
    """
    return place_of(url)[0] in OWN or place_of(url) in endpoints


class McpTable(Frozen):
    """The table `[[environment.mcp]]` of `task.toml`."""

    name: Annotated[Word, Field(max_length=30)]
    argv: Annotated[tuple[Text, ...], AllowedText("a list: a program and its arguments")] = ()
    env: dict[Variable, Text] = {}
    url: Annotated[str, AfterValidator(_url), AllowedText("an address such as 'http://tools.example.com:8000/mcp'")] = (
        ""
    )
    sse: Flag = False

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if bool(self.argv) == bool(self.url):
            raise ValueError("a server needs either argv (a program in the box) or url (behind an endpoint)")
        if self.url and self.env:
            raise ValueError("env is allowed only for a server that is a program in the box (argv)")
        if self.sse and not self.url:
            raise ValueError("sse is allowed only for a server with url")
        return self

    def record(self) -> McpSpec:
        """Return the table as an `McpSpec` record."""
        return McpSpec(name=self.name, argv=self.argv, env=dict(self.env), url=self.url, sse=self.sse)


def check_mcp(servers: Sequence[McpTable], endpoints: Collection[tuple[str, int]]) -> None:
    """Raise ValueError if two servers have the same name, or if a server's address is not an endpoint of the task."""
    names = [one.name for one in servers]
    if len(set(names)) < len(names):
        raise ValueError("two MCP servers have the same name")
    for one in servers:
        if one.url and not is_reachable(one.url, endpoints):
            host, port = place_of(one.url)
            raise ValueError(f"the MCP server {one.name!r} is at {host}:{port}, and the task has no such endpoint")
