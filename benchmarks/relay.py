"""What an endpoint costs: a connection and its first answer, and bytes in a row, beside plain loopback and socat.

    python benchmarks/relay.py [--connections 300] [--megabytes 200] [--rounds 5] [--socat PROGRAM]

One client, in a process of its own, connects, sends a byte and waits for it; then it reads many bytes over one
connection. "loopback" is the host's own; "endpoint" is the same client in a box, through the relay to the host;
"service" through the relay to the same server in another box; "socat" (left out where it is not installed) is the way
that others go: TCP to a Unix socket, and from there to TCP, two socats on the host. All are taken in turn within each
round, so that a busy machine slows all alike.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shutil
import socket
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from worksample.box import Box, BoxConfig, Endpoint
from worksample.records import ServiceSpec
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import AllowedHost, HostRule, serve_endpoints
from worksample.sandboxes.services import open_services
from worksample.sandboxes.services.service_boxes import service_boxes

API, INSIDE = Endpoint("api.example.com", 443), Endpoint("service.example.com", 443)
SERVER = """
import socket, sys, threading
own = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)
print(own.getsockname()[1], flush=True)
def one(c):
    with c:
        asked = c.recv(16)
        if asked[:1] == b"G":
            piece = b"z" * (1 << 18)
            for _ in range(int(asked[1:]) * 4): c.sendall(piece)
        else:
            c.sendall(asked); c.recv(1)
while True:
    c, _ = own.accept()
    threading.Thread(target=one, args=(c,), daemon=True).start()
"""
CLIENT = """
import json, socket, sys, time
place, count, size = (socket.gethostbyname(sys.argv[1]), int(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4])
times = []
for _ in range(count):
    began = time.perf_counter()
    with socket.create_connection(place) as s:
        s.sendall(b"x"); s.recv(1)
        times.append(1000 * (time.perf_counter() - began))
with socket.create_connection(place) as s:
    began, got = time.perf_counter(), 0
    s.sendall(b"G%d" % size)
    while piece := s.recv(1 << 18): got += len(piece)
    rate = got / 1e6 / (time.perf_counter() - began)
print(json.dumps([times, rate]))
"""
SERVICE = ServiceSpec(name="s", box="s", argv=("python3", "-c", SERVER, "8000"), ports=(8000,))
Way = Callable[[int, int], Awaitable[tuple[list[float], float]]]


async def here(port: int, count: int, size: int) -> tuple[list[float], float]:
    """The client on the host."""
    words = [sys.executable, "-c", CLIENT, "127.0.0.1", str(port), str(count), str(size)]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    times, rate = json.loads(out)
    return times, rate


async def inside(box: Box, place: Endpoint, count: int, size: int) -> tuple[list[float], float]:
    """The client in a box."""
    done = await box.run(["python3", "-c", CLIENT, place.name, str(place.port), str(count), str(size)])
    times, rate = json.loads(done.stdout)
    return times, rate


@contextlib.asynccontextmanager
async def running(*words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program for the length of a block."""
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


@contextlib.asynccontextmanager
async def socats(program: str, port: int) -> AsyncIterator[int]:
    """TCP to a Unix socket to TCP; the port to connect to."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        near = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/s"
        inner = (program, f"UNIX-LISTEN:{path},fork,backlog=512", f"TCP:127.0.0.1:{port},nodelay")
        outer = (
            program,
            f"TCP-LISTEN:{near},bind=127.0.0.1,fork,reuseaddr,backlog=512,nodelay",
            f"UNIX-CONNECT:{path}",
        )
        async with running(*inner), running(*outer):
            await asyncio.sleep(0.5)
            yield near


def show(found: dict[str, list[tuple[list[float], float]]]) -> None:
    """The table: medians over the rounds, and what each adds to loopback."""
    base = None
    print(f"{'':12}{'median ms':>10}{'p95 ms':>9}{'+ median':>10}{'+ p95':>8}{'MB/s':>9}{'of loopback':>13}")
    for name, rounds in found.items():
        middle = statistics.median(statistics.median(times) for times, _ in rounds)
        late = statistics.median(statistics.quantiles(times, n=20)[-1] for times, _ in rounds)
        rate = statistics.median(rate for _, rate in rounds)
        base = base or (middle, late, rate)
        more = f"{middle - base[0]:10.2f}{late - base[1]:8.2f}"
        print(f"{name:12}{middle:10.2f}{late:9.2f}{more}{rate:9.0f}{rate / base[2]:12.0%}")


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=300)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--socat", default=shutil.which("socat"))
    given = parser.parse_args()
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(running(sys.executable, "-c", SERVER, "0"))
        assert server.stdout is not None
        port = int(await server.stdout.readline())
        box = await stack.enter_async_context(open_box(BoxConfig(network="endpoints", endpoints=(API, INSIDE))))
        host = AllowedHost(HostRule("localhost", port), refusing=lambda address: "")
        plan = service_boxes((SERVICE,), Path, "relay")
        services = await stack.enter_async_context(open_services(plan, "bubblewrap"))
        await stack.enter_async_context(serve_endpoints(box, {API: host, INSIDE: services.target("service:s")}))
        size = given.megabytes
        ways: dict[str, Callable[[], Awaitable[tuple[list[float], float]]]] = {
            "loopback": lambda: here(port, given.connections, size),
            "endpoint": lambda: inside(box, API, given.connections, size),
            "service": lambda: inside(box, INSIDE, given.connections, size),
        }
        if given.socat:
            through = await stack.enter_async_context(socats(given.socat, port))
            ways["socat"] = lambda: here(through, given.connections, size)
        found: dict[str, list[tuple[list[float], float]]] = {name: [] for name in ways}
        for _ in range(given.rounds):
            for name, way in ways.items():
                found[name].append(await way())
    show(found)


if __name__ == "__main__":
    asyncio.run(main())
