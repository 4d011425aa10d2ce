"""Endpoints of real boxes: allowed, refused and recorded connections."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from worksample.box import Box, BoxConfig, Endpoint
from worksample.errors import SandboxError, SandboxUnavailable
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import (
    AllowedHost,
    ConnectionLedger,
    ConnectProxy,
    HostAllowance,
    HostRule,
    StreamTarget,
    Target,
    serve_endpoints,
)

pytestmark = pytest.mark.box

API, PROXY = Endpoint("api.example.com", 443), Endpoint("proxy.internal", 3128)


def anywhere(address: str) -> str:
    """For tests, whose hosts are on loopback."""
    return ""


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    """A server on the host's loopback that sends back what it gets; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def served(*targets: tuple[Endpoint, Target | None]) -> AsyncIterator[tuple[Box, ConnectionLedger]]:
    config = BoxConfig(network="endpoints", endpoints=tuple(endpoint for endpoint, _ in targets))
    async with open_box(config) as box:
        given = {endpoint: target for endpoint, target in targets if target is not None}
        async with serve_endpoints(box, given) as ledger:
            yield box, ledger


async def python(box: Box, code: str, *words: str) -> str:
    done = await box.run(["python3", "-c", code, *words], timeout=300)
    return (done.stdout + done.stderr).decode()


BOTH_WAYS = """
import hashlib, os, socket, sys, threading
data = os.urandom(3_000_000)
s = socket.create_connection((sys.argv[1], 443))
def give():
    s.sendall(data); s.shutdown(socket.SHUT_WR)
threading.Thread(target=give).start()
got = b""
while piece := s.recv(1 << 16): got += piece
print(got == data)
"""


async def test_bytes_are_relayed_both_ways_and_counted() -> None:
    async with echo() as port, served((API, AllowedHost(HostRule("localhost", port), anywhere))) as (box, ledger):
        assert await python(box, BOTH_WAYS, API.name) == "True\n"
        for _ in range(200):
            (row,) = ledger.plain()
            if row["seconds"] is not None:
                break
            await asyncio.sleep(0.01)
    assert (row["sent"], row["received"]) == (3_000_000, 3_000_000)
    assert row["rule"] == f"allow localhost:{port}"
    assert row["peer"].endswith(f":{port}")
    assert "refused" not in row


REACH = """
import socket, sys
for place in sys.argv[1:]:
    name, _, port = place.rpartition(":")
    try:
        s = socket.create_connection((name, int(port)), timeout=5); s.sendall(b"x"); print("answer", s.recv(9))
    except OSError as e: print(type(e).__name__, e.errno)
"""


async def test_unserved_endpoint_refuses_at_once_and_records_why() -> None:
    inside = Endpoint("inside.example.com", 80)
    async with echo() as port, served((API, None), (inside, AllowedHost(HostRule("localhost", port)))) as (box, ledger):
        said = await python(box, REACH, str(API), str(inside))
    assert said.count("ConnectionResetError") == 2
    first, second = ledger.plain()
    assert first["refused"] == "nobody serves it"
    assert "loopback" in second["refused"]
    assert not first["received"] and not second["received"]


async def test_nothing_else_can_be_reached() -> None:
    """Other ports and names, the host's loopback, the world by address, names by any resolver."""
    async with echo() as port, served((API, AllowedHost(HostRule("localhost", port), anywhere))) as (box, ledger):
        places = [f"127.0.0.1:{port}", "api.example.com:80", "xapi.example.com:443", "1.1.1.1:443", "8.8.8.8:53",
                  f"localhost:{port}", "127.65.0.2:443", "169.254.169.254:80"]  # fmt: skip
        said = await python(box, REACH, *places)
    assert "answer" not in said
    assert len(said.splitlines()) == len(places)
    assert ledger.plain() == []


async def test_served_address_cannot_be_taken_by_a_program() -> None:
    code = """
import socket
for host, more in (("127.65.0.1", ()), ("0.0.0.0", ()), ("127.65.0.1", (socket.SO_REUSEPORT, socket.SO_REUSEADDR))):
    s = socket.socket()
    for option in more: s.setsockopt(socket.SOL_SOCKET, option, 1)
    try: s.bind((host, 8443)); s.listen(); print("taken")
    except OSError as e: print(e.errno)
"""
    async with served((Endpoint("api.example.com", 8443), None)) as (box, _):
        assert "taken" not in await python(box, code)
        hosts = await python(box, "open('/etc/hosts', 'a')")
        assert "Read-only file system" in hosts or "Permission denied" in hosts


async def test_name_that_leads_inside_is_refused_despite_earlier_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebinding: what is dialled is the address that was looked at, in the same answer."""
    asked: list[str] = []

    async def resolve(self: object, host: str, port: int, **rest: object) -> list[object]:
        asked.append(host)
        inside = [(2, 1, 6, "", ("169.254.169.254", port))]
        return inside if len(asked) > 1 else [(2, 1, 6, "", ("93.184.216.34", port)), *inside]

    loop = asyncio.get_running_loop()
    async with served((API, AllowedHost(HostRule(API.name, 443)))) as (box, ledger):
        monkeypatch.setattr(type(loop), "getaddrinfo", resolve)
        said = await python(box, REACH, str(API), str(API))
    assert "answer" not in said
    assert asked == [API.name, API.name]
    assert all("169.254" in row["refused"] for row in ledger.plain())


MANY = """
import resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
open_ones = []
for n in range(1000):
    s = socket.socket(); s.setblocking(False)
    try: s.connect((sys.argv[1], 443))
    except BlockingIOError: pass
    open_ones.append(s)
s = socket.create_connection((sys.argv[2], 80), timeout=120)
s.settimeout(20); s.sendall(b"still")
print(len(open_ones), s.recv(9))
"""


async def test_thousand_connections_and_a_slow_reader_use_bounded_memory() -> None:
    flood, other = API, Endpoint("other.example.com", 80)
    most = at_once = peak = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal most, at_once, peak
        at_once += 1
        peak = max(peak, at_once)
        try:
            while True:  # to a program that reads nothing
                writer.write(b"x" * 65536)
                most = max(most, writer.transport.get_write_buffer_size())
                await writer.drain()
        finally:
            at_once -= 1

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read(5))

    async with served((flood, StreamTarget("flood", endless)), (other, StreamTarget("other", answer))) as (box, _):
        said = await python(box, MANY, flood.name, other.name)
    assert said == "1000 b'still'\n"
    assert most < 1 << 20
    assert peak == 64


BROKEN = ("got\nend\n", "got\nConnectionResetError\n", "ConnectionResetError\n")
"""A program's ends: what was on its way may be lost with the connection."""


async def test_broken_end_breaks_the_other() -> None:
    """A relay that is stopped in mid-transfer, and a host that is."""

    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"half")
        await writer.drain()
        writer.transport.abort()

    server = await asyncio.start_server(half, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    code = """
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], 443), timeout=120)
    while s.recv(4096): print("got")
    print("end")
except OSError as e: print(type(e).__name__)
"""
    async with server, served((API, AllowedHost(HostRule("localhost", port), anywhere))) as (box, _):
        said = await python(box, code, API.name)
    assert said in BROKEN
    quiet = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"half")
        await writer.drain()
        quiet.set()
        await asyncio.Event().wait()

    config = BoxConfig(network="endpoints", endpoints=(API,))
    async with open_box(config) as box:
        async with serve_endpoints(box, {API: StreamTarget("silent", silent)}) as ledger:
            running = asyncio.create_task(python(box, code, API.name))
            await quiet.wait()
        assert await running in BROKEN
        assert "ConnectionRefusedError" in await python(box, REACH, str(API))
    assert "aborted" in ledger.plain()[0]["failed"]


def hello_of(name: str) -> bytes:
    context = ssl.create_default_context()
    outgoing = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


TUNNEL = """
import socket, sys
s = socket.create_connection((sys.argv[1], 3128), timeout=120)
s.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
said = s.recv(4096)
print(said.decode())
if b" 200 " in said:
    s.sendall(bytes.fromhex(sys.argv[3]))
    try: print("echoed", s.recv(4096).hex()[:20])
    except OSError as e: print(type(e).__name__)
"""


async def test_proxy_requires_the_same_name_in_connect_and_tls() -> None:
    async with echo() as port:
        rules = (HostRule("*.localtest", port),)
        proxy = ConnectProxy(rules, HostAllowance(rules), anywhere)
        async with served((PROXY, proxy)) as (box, ledger):
            head = f"CONNECT a.localtest:{port} HTTP/1.1\\r\\n\\r\\n"
            loop = asyncio.get_running_loop()
            with pytest.MonkeyPatch.context() as patch:

                async def resolve(self: object, host: str, at: int, **rest: object) -> list[object]:
                    return [(2, 1, 6, "", ("127.0.0.1", at))]

                patch.setattr(type(loop), "getaddrinfo", resolve)
                good = await python(box, TUNNEL, PROXY.name, head, hello_of("a.localtest").hex())
                other = await python(box, TUNNEL, PROXY.name, head, hello_of("b.localtest").hex())
                plain = await python(box, TUNNEL, PROXY.name, head, b"GET / HTTP/1.1\r\n\r\n".hex())
                refused = [
                    await python(box, TUNNEL, PROXY.name, f"{asked} HTTP/1.1\\r\\n\\r\\n", "")
                    for asked in (f"CONNECT xlocaltest:{port}", "CONNECT a.localtest:1", f"CONNECT 127.0.0.1:{port}",
                                  f"CONNECT [::1]:{port}", f"CONNECT 2130706433:{port}", "GET http://a.localtest/")
                ]  # fmt: skip
    assert "echoed 160301" in good
    assert "echoed 16" not in other
    assert "echoed 47" not in plain
    assert all("403 Forbidden" in said for said in refused)
    rows = ledger.plain()
    assert rows[0]["name"] == f"a.localtest:{port}" and "refused" not in rows[0]
    assert "the TLS server name is b.localtest" in rows[1]["refused"]
    assert "did not begin with a TLS handshake" in rows[2]["refused"]
    assert all(row.get("refused") for row in rows[1:])


async def test_suite_blocks_listed_web_hosts() -> None:
    """The web under a block list, as RLI's agents had it; with every way to write an address or a name differently."""
    async with echo() as port:
        web, blocked = HostRule("*", port), (HostRule("shop.localtest", 0), HostRule("*.shop.localtest", 0))
        proxy = ConnectProxy((web,), HostAllowance((web,), blocked=blocked), anywhere)
        async with served((PROXY, proxy)) as (box, ledger):
            loop = asyncio.get_running_loop()
            with pytest.MonkeyPatch.context() as patch:

                async def resolve(self: object, host: str, at: int, **rest: object) -> list[object]:
                    return [(2, 1, 6, "", ("127.0.0.1", at))]

                patch.setattr(type(loop), "getaddrinfo", resolve)

                async def ask(name: str, hello: str) -> str:
                    head = f"CONNECT {name}:{port} HTTP/1.1\\r\\n\\r\\n"
                    return await python(box, TUNNEL, PROXY.name, head, hello_of(hello).hex())

                assert "echoed 16" in await ask("other.localtest", "other.localtest")
                for name in ("shop.localtest", "SHOP.localtest", "www.shop.localtest", "shop.localtest.", "127.1",
                             "[::ffff:127.0.0.1]", "0x7f000001", "017700000001", "2130706433"):  # fmt: skip
                    assert "403 Forbidden" in await ask(name, "other.localtest"), name
                assert "echoed" not in await ask("other.localtest", "shop.localtest")
    rows = ledger.plain()
    assert "refused" not in rows[0] and rows[0]["rule"] == f"allow *:{port}"
    assert "blocked by the suite (shop.localtest)" in rows[1]["refused"]
    assert "blocked by the suite (*.shop.localtest)" in rows[3]["refused"]
    assert all(row.get("refused") for row in rows[1:])


async def test_impossible_configs_are_refused() -> None:
    for endpoints, network in (
        ((API, API), "endpoints"),
        ((Endpoint("127.0.0.1", 80),), "endpoints"),
        ((Endpoint("a.example", 0),), "endpoints"),
        ((API,), "none"),
        ((), "host"),
    ):
        with pytest.raises(SandboxError):
            BoxConfig(network=network, endpoints=endpoints).check()
    with pytest.raises(SandboxUnavailable, match="without isolation"):
        async with open_box(BoxConfig(network="endpoints", endpoints=(API,)), kind="none"):
            pass
    async with open_box(BoxConfig(network="endpoints", endpoints=(API,))) as box:
        box.serve(API).close()
        with pytest.raises(SandboxError, match="already has a server"):
            box.serve(API)


def test_connections_beyond_the_limit_are_summed() -> None:
    ledger = ConnectionLedger(most=2)
    for _ in range(5):
        contact = ledger.begin("a:1", "none")
        contact.sent, contact.refused = 10, "no"
        ledger.end(contact)
    assert len(ledger.plain()) == 3
    assert ledger.plain()[-1] == {"more": {"connections": 3, "sent": 30, "received": 0, "refused": 3}}
