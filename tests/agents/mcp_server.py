"""A server of tools for tests, made with the protocol's own package: notes in a folder. Over stdio, or HTTP."""

import pathlib
import sys

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

NOTES = pathlib.Path(sys.argv[1])
server = MCPServer("notes")


@server.tool()
def keep(name: str, text: str) -> str:
    """Keep a note."""
    (NOTES / name).write_text(text)
    return f"kept {len(text)} characters"


@server.tool()
def count() -> int:
    """How many notes there are."""
    return len(list(NOTES.iterdir()))


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("no paper left")


@server.tool()
def much() -> str:
    """Says a lot."""
    return "x" * 100_000


if __name__ == "__main__":
    if len(sys.argv) > 2:
        open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        how = "sse" if "sse" in sys.argv[3:] else "streamable-http"
        server.run(transport=how, host="127.0.0.1", port=int(sys.argv[2]), transport_security=open_to_all)
    else:
        server.run()
