"""An HTTP CONNECT proxy for hosts that only a wildcard rule allows. The host name in the request must be the host name
in the TLS handshake.
"""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import dataclass

from worksample.box import is_host_name

from .connection_ledger import ConnectionRecord
from .host_rules import HostAllowance, HostRule, address_refusal, matching_rule
from .stream_relay import relay
from .targets import AddressCheck, ConnectionRefused, dial
from .tls_client_hello import ClientHelloError, HelloReader

MOST_HEAD = 8192
"""Maximum bytes of the head of a CONNECT request."""
PATIENCE = 30.0
"""Maximum seconds to wait for a CONNECT request, and again for the ClientHello of TLS."""
_CONNECT = re.compile(rb"CONNECT ([!-~]{1,300}):([0-9]{1,5}) HTTP/1\.[01]\r?\n")


@dataclass(frozen=True, slots=True)
class ConnectProxy:
    """A target that accepts only HTTP's CONNECT requests. The proxy does not change the bytes of TLS."""

    rules: tuple[HostRule, ...]
    """The wildcard rules of the task."""
    allowance: HostAllowance
    refusing: AddressCheck = address_refusal

    @property
    def rule(self) -> str:
        return f"proxy for {', '.join(map(str, self.rules))}"

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Serve one CONNECT tunnel. A refused request gets an HTTP answer that names the rule."""
        loop = asyncio.get_running_loop()
        try:
            name, port, rest = await _read_request(connection)
            contact.name = f"{name}:{port}"
            rule = matching_rule(name, port, self.rules)
            if rule is None:
                raise ConnectionRefused(
                    f"no rule of this proxy allows {name}:{port}: {', '.join(map(str, self.rules))}"
                )
            if why := self.allowance.refusal(name, port):
                raise ConnectionRefused(f"{name}:{port} {why}")
            contact.rule = f"allow {rule}"
            outside = await dial(name, port, contact, self.refusing)
        except ConnectionRefused as refused:
            text = f"{refused}\n".encode(errors="replace")
            head = f"HTTP/1.1 403 Forbidden\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
            await loop.sock_sendall(connection, head.encode() + text)
            contact.refused = str(refused)
            connection.shutdown(socket.SHUT_WR)
            connection.close()
            return
        done = False
        try:
            await loop.sock_sendall(connection, b"HTTP/1.1 200 Connection established\r\n\r\n")
            first = await _read_client_hello(connection, rest, name)
            await loop.sock_sendall(outside, first)
            contact.sent += len(first)
            done = True
        finally:
            if not done:
                outside.close()
        await relay(connection, outside, contact)


async def _read_request(connection: socket.socket) -> tuple[str, int, bytes]:
    """Return the host, the port and the bytes that follow the request. Raises ConnectionRefused unless the request is a
    CONNECT to a host name.
    """
    head = b""
    try:
        async with asyncio.timeout(PATIENCE):
            while b"\r\n\r\n" not in head:
                piece = await _receive(connection)
                head += piece
                if not piece or len(head) > MOST_HEAD:
                    raise ConnectionRefused("the request is incomplete: this proxy accepts CONNECT only")
    except TimeoutError:
        raise ConnectionRefused(
            f"no complete request came within {PATIENCE:.0f} s: this proxy accepts CONNECT only"
        ) from None
    found = _CONNECT.match(head)
    if found is None:
        raise ConnectionRefused("this proxy accepts CONNECT only")
    name, port = found[1].decode("ascii").lower(), int(found[2])
    if not is_host_name(name) or not 0 < port < 1 << 16:
        raise ConnectionRefused(f"{name}:{port} is not a host name and port: IP addresses are refused")
    return name, port, head.partition(b"\r\n\r\n")[2]


async def _read_client_hello(connection: socket.socket, data: bytes, name: str) -> bytes:
    """Return the first bytes that the client sends through the tunnel. Raises ConnectionRefused unless the bytes are a
    TLS ClientHello for the host `name`.
    """
    hello, piece = HelloReader(), data
    try:
        async with asyncio.timeout(PATIENCE):
            while (said := hello.feed(piece)) is None:
                piece = await _receive(connection)
                if not piece:
                    raise ClientHelloError("the client closed the connection before its TLS ClientHello")
    except TimeoutError:
        raise ConnectionRefused(f"{name}: no complete ClientHello came within {PATIENCE:.0f} s") from None
    except ClientHelloError as error:
        raise ConnectionRefused(f"{name}: {error}") from None
    if said != name:
        raise ConnectionRefused(f"the CONNECT request names {name}, but the TLS server name is {said}")
    return bytes(hello.data)


async def _receive(connection: socket.socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(connection, 1 << 14)
