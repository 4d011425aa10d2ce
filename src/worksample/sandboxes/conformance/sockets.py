"""Conformance checks of Unix sockets between a box and the host, in both directions, and of ports on the box's
loopback.
"""

from __future__ import annotations

import asyncio
import errno
import socket

from worksample.box.interface import Box, Connection, Process
from worksample.errors import SandboxError

from .assertions import PATIENCE, raises, read_exactly, read_rest, wait_until

_SERVER = """
import socket, sys, threading
own = socket.socket(socket.AF_UNIX); own.bind(sys.argv[1]); own.listen(64)
print("ready", flush=True)
def serve(end):
    while data := end.recv(65536):
        end.sendall(data.upper())
    end.sendall(b"END"); end.close()
while True:
    threading.Thread(target=serve, args=(own.accept()[0],), daemon=True).start()
"""
_CLIENT = """
import socket, sys
for word in sys.argv[2:]:
    end = socket.socket(socket.AF_UNIX); end.connect(sys.argv[1]); end.sendall(word.encode())
    end.shutdown(socket.SHUT_WR)
    print(b"".join(iter(lambda: end.recv(65536), b"")).decode(), flush=True)
    end.close()
"""


async def _start_server(box: Box, path: str) -> Process:
    server = await box.start(["python3", "-c", _SERVER, path])
    assert await read_exactly(server.stdout, 6) == b"ready\n"
    return server


async def the_host_connects_to_a_program(box: Box) -> None:
    await _start_server(box, "/task/scratch/up.sock")
    connections = [await box.connect("up.sock") for _ in range(5)]
    for number, connection in enumerate(connections):
        await connection.writer.write(b"word %d" % number)
    for number, connection in enumerate(connections):
        assert await read_exactly(connection.reader, 6) == b"WORD %d" % number
        await connection.writer.close()  # the other direction goes on
        assert await read_rest(connection.reader) == b"END"
        await connection.close()
        await connection.close()
        with raises(BrokenPipeError):
            await connection.writer.write(b"x")


async def much_goes_both_ways_at_once(box: Box) -> None:
    await _start_server(box, "/task/scratch/up.sock")
    connection = await box.connect("up.sock")
    data = bytes(range(97, 123)) * 100_000

    async def feed() -> None:
        await connection.writer.write(data)
        await connection.writer.close()

    _, found = await asyncio.gather(feed(), read_rest(connection.reader))
    assert found == data.upper() + b"END"
    await connection.close()


async def programs_connect_to_the_host(box: Box) -> None:
    listener = await box.listen("/task/scratch/down.sock")
    client = await box.start(["python3", "-c", _CLIENT, "/task/scratch/down.sock", "one", "two", "three"])
    for word in (b"one", b"two", b"three"):
        connection = await asyncio.wait_for(listener.accept(), PATIENCE)
        assert await read_rest(connection.reader) == word
        await connection.writer.write(b"the " + word)
        await connection.writer.close()
        await connection.close()
    assert await read_rest(client.stdout) == b"the one\nthe two\nthe three\n", await read_rest(client.stderr)
    await listener.close()
    await listener.close()
    refused = await box.run(["python3", "-c", _CLIENT, "/task/scratch/down.sock", "late"])
    assert b"ConnectionRefusedError" in refused.stderr, refused
    with raises(SandboxError):
        await listener.accept()


async def many_that_nobody_accepts_wait(box: Box) -> None:
    code = """
import socket, sys
ends = []
for _ in range(200):
    end = socket.socket(socket.AF_UNIX); end.setblocking(False)
    try:
        end.connect(sys.argv[1])
    except OSError:
        break
    ends.append(end)
print(len(ends), flush=True)
for end in ends:
    end.setblocking(True)
    end.sendall(b"x" * 1000); end.shutdown(socket.SHUT_WR)
for end in ends:
    while end.recv(10): pass
"""
    listener = await box.listen("/task/scratch/down.sock")
    client = await box.start(["python3", "-c", code, "/task/scratch/down.sock"])
    count = int(await client.stdout.read())
    assert count >= 50
    for _ in range(count):
        connection: Connection = await asyncio.wait_for(listener.accept(), PATIENCE)
        assert len(await read_rest(connection.reader)) == 1000
        await connection.close()
    ended = await asyncio.wait_for(client.wait(), PATIENCE)
    assert ended.returncode == 0, await read_rest(client.stderr)


async def a_connection_that_nobody_reads_holds_its_program_up(box: Box) -> None:
    code = """
import socket, sys
end = socket.socket(socket.AF_UNIX); end.connect(sys.argv[1]); sent = 0
while sent < 20_000_000:
    sent += end.send(b"x" * 50_000)
    open("sent", "w").write(str(sent))
"""
    listener = await box.listen("/task/scratch/down.sock")
    client = await box.start(["python3", "-c", code, "/task/scratch/down.sock"])
    connection = await asyncio.wait_for(listener.accept(), PATIENCE)
    await wait_until(box, "test -s sent")
    before, now = -1, 0
    async with asyncio.timeout(PATIENCE):
        while before != now:
            await asyncio.sleep(0.5)
            before, now = now, int(await box.read("sent", 20) or 0)
    assert now < 8 << 20, f"{now} bytes went somewhere"
    assert len(await read_rest(connection.reader)) >= 20_000_000
    assert (await client.wait()).returncode == 0
    await connection.close()


async def a_connection_closed_by_the_host_is_noticed(box: Box) -> None:
    code = """
import socket, sys
end = socket.socket(socket.AF_UNIX); end.connect(sys.argv[1])
while end.recv(10): pass
try:
    while True: end.sendall(b"x" * 100_000)
except ConnectionError:
    print("noticed")
"""
    listener = await box.listen("/task/scratch/down.sock")
    client = await box.start(["python3", "-c", code, "/task/scratch/down.sock"])
    connection = await asyncio.wait_for(listener.accept(), PATIENCE)
    await connection.writer.write(b"x")
    await connection.close()
    assert await read_rest(client.stdout) == b"noticed\n"


async def a_program_that_dies_ends_its_connection(box: Box) -> None:
    server = await _start_server(box, "/task/scratch/up.sock")
    connection = await box.connect("up.sock")
    await connection.writer.write(b"a")
    assert await read_exactly(connection.reader, 1) == b"A"
    await server.kill()
    assert await read_rest(connection.reader) == b""
    with raises(BrokenPipeError):
        async with asyncio.timeout(PATIENCE):
            while True:
                await connection.writer.write(b"x" * 1000)
    await connection.close()


async def sockets_that_cannot_be_had_say_why(box: Box) -> None:
    with raises(FileNotFoundError, "nowhere.sock"):
        await box.connect("/task/scratch/nowhere.sock")
    with raises(FileNotFoundError):
        await box.listen("/task/scratch/no/folder/down.sock")
    await box.write("taken", b"")
    with raises(OSError, number=errno.EADDRINUSE):
        await box.listen("taken")
    with raises(ConnectionRefusedError):
        await box.connect("taken")
    deep = "/task/scratch/" + "d" * 90
    await box.run(["mkdir", deep])
    listener = await box.listen(f"{deep}/down.sock")  # longer than the maximum length of a socket's address
    connection = await box.connect(f"{deep}/down.sock")
    await connection.writer.write(b"x")
    other = await asyncio.wait_for(listener.accept(), PATIENCE)
    assert await read_exactly(other.reader, 1) == b"x"
    for one in (connection, other, listener):
        await one.close()


_TCP = """
import socket, threading
own = socket.create_server(("127.0.0.1", 0), backlog=64)
print(own.getsockname()[1], flush=True)
def serve(end):
    while data := end.recv(65536):
        end.sendall(data.upper())
    end.sendall(b"END"); end.close()
while True:
    threading.Thread(target=serve, args=(own.accept()[0],), daemon=True).start()
"""


async def the_host_dials_a_port_of_the_box(box: Box) -> None:
    server = await box.start(["python3", "-c", _TCP])
    port = int(await server.stdout.read())
    loop = asyncio.get_running_loop()
    ends = await asyncio.gather(*(box.dial(port) for _ in range(20)))
    async with asyncio.timeout(PATIENCE):
        for number, end in enumerate(ends):
            await loop.sock_sendall(end, b"word %d" % number)
            end.shutdown(socket.SHUT_WR)
        for number, end in enumerate(ends):
            found = b""
            while piece := await loop.sock_recv(end, 100):
                found += piece
            assert found == b"WORD %dEND" % number
            end.close()
    await server.kill()
    await server.wait()
    with raises(ConnectionRefusedError):
        await box.dial(port)


async def sockets_end_with_the_box(box: Box) -> None:
    listener = await box.listen("/task/scratch/down.sock")
    connection = await box.connect("/task/scratch/down.sock")
    reading, accepting = asyncio.create_task(connection.reader.read()), asyncio.create_task(listener.accept())
    await asyncio.gather(accepting, return_exceptions=True)
    accepting = asyncio.create_task(listener.accept())
    await asyncio.sleep(0.05)
    await box.close()
    async with asyncio.timeout(PATIENCE):
        for waiting in (reading, accepting):
            with raises(SandboxError):
                await waiting
