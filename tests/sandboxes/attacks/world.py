"""What an attack is after: secrets, services and processes of the host, another box; and how attacks are registered."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from worksample.box import Box, BoxConfig, BoxLimits, Completed, Mount, Root
from worksample.sandboxes import open_box
from worksample.sandboxes.seccomp import _ABSENT, _REFUSED
from worksample.sandboxes.unsandboxed import PlainBox

LIMITS = BoxLimits(memory=256 << 20, processes=48, disk=64 << 20, files=2000, output=1 << 20, time=40)
NUMBERS = {
    name: pair[os.uname().machine == "aarch64"]
    for name, pair in {**_REFUSED, **_ABSENT, "ioprio_set": (251, 30)}.items()
}
PRELUDE = """
import ctypes, errno, os, socket, sys, time, json
libc = ctypes.CDLL(None, use_errno=True)
T = os.environ["TOKEN"]
N = json.loads(os.environ["NUMBERS"])
def call(number, *words):
    ctypes.set_errno(0)
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    return libc.syscall(ctypes.c_long(N.get(number, number)), *words), ctypes.get_errno()
"""


@dataclass
class World:
    """The host as the attacks see it. Everything secret contains `token`, which no box is told in a file or service."""

    folder: Path
    root: bool
    token: str = field(default_factory=lambda: secrets.token_hex(12))
    image: Root | None = None
    """The root of the boxes that are attacked, where they have one of their own."""
    env: dict[str, str] = field(default_factory=dict)
    kind: str = "bubblewrap"
    """Of the boxes that are attacked."""
    victim: subprocess.Popen[bytes] | None = None
    neighbour: Box | None = None

    @property
    def secret(self) -> Path:
        """A file on the host that any user may read."""
        return self.folder / "store" / "secret.txt"

    def config(self, **changes: Any) -> BoxConfig:
        """The box that attacks start in."""
        mounts = (Mount(str(self.folder / "task" / "inputs"), "/task/input"), *changes.pop("mounts", ()))
        if self.image is not None:
            changes = {**changes, "root": self.image, "python": "none"}
        return BoxConfig(mounts=mounts, limits=changes.pop("limits", LIMITS), label=f"attack {self.token}", **changes)

    def open(self, box: Box, **changes: Any) -> AbstractAsyncContextManager[Box]:
        """Another box of the same kind."""
        if isinstance(box, PlainBox):
            return open_box(replace(self.config(**changes), root=None), kind="none")
        return open_box(self.config(**changes), kind=self.kind)

    async def python(self, box: Box, code: str, **more: Any) -> Completed:
        """Run Python in a box; `T` is the word that an attack prints when it has succeeded."""
        env = {**self.env, **more.pop("env", {})}
        return await box.run(["python3", "-I", "-c", PRELUDE + code], env=env, **more)

    async def shell(self, box: Box, code: str, **more: Any) -> Completed:
        """Run bash in a box."""
        return await box.run(["bash", "-c", code], env={**self.env, **more.pop("env", {})}, **more)

    def found(self, done: Completed) -> bool:
        """Whether the secret came out."""
        return self.token.encode() in done.stdout + done.stderr


@dataclass(frozen=True)
class Attack:
    """`run` tells whether it succeeded. `control`: "plain" (it must succeed in a box of kind none), "root" (likewise,
    but only for a platform that is root), or "" with the reason why it is not tried without protection."""

    name: str
    run: Callable[[World, Box], Awaitable[bool]]
    control: str
    why: str
    only: str
    image: str
    """Why it is none in a box with an image's root; empty where it is."""


ATTACKS: dict[str, Attack] = {}


def attack(control: str = "plain", why: str = "", only: str = "", image: str = "") -> Callable[[Any], Any]:
    """Register an attack by the name of its function. `only` is "root" where it needs a platform that is root."""

    def register(run: Callable[[World, Box], Awaitable[bool]]) -> Callable[[World, Box], Awaitable[bool]]:
        if not control and not why:
            raise ValueError(f"{run.__name__} has no control and does not say why")
        ATTACKS[run.__name__] = Attack(run.__name__, run, control, why, only, image)
        return run

    return register


@asynccontextmanager
async def make_world(folder: Path) -> AsyncIterator[World]:
    """A host with services, a process with a secret in its environment, and a second box."""
    image = os.environ.get("ATTACK_IMAGE")
    kind = os.environ.get("ATTACK_KIND", "bubblewrap")
    world = World(folder, os.geteuid() == 0, image=Root(image) if image else None, kind=kind)
    for part in ("store", "task/inputs", "task/reference"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    world.secret.write_text(world.token)
    (folder / "task/reference/answer.txt").write_text(world.token)
    (folder / "task/inputs/brief.md").write_text("brief")
    async with AsyncExitStack() as stack:
        tcp = await stack.enter_async_context(await asyncio.start_server(_reply(world), "127.0.0.1", 0))
        abstract = f"\0worksample-{world.token[:6]}"
        await stack.enter_async_context(await asyncio.start_unix_server(_reply(world), abstract))
        await stack.enter_async_context(await asyncio.start_unix_server(_reply(world), folder / "store/service.sock"))
        loop = asyncio.get_running_loop()
        udp, _ = await loop.create_datagram_endpoint(lambda: _Echo(world), local_addr=("127.0.0.1", 0))
        stack.callback(udp.close)
        sleep = shutil.which("sleep") or "/usr/bin/sleep"
        world.victim = subprocess.Popen([sleep, "3600"], env={"VICTIM": world.token}, stdin=subprocess.DEVNULL)
        stack.callback(_end, world)
        world.env = {
            "SECRET": str(world.secret),
            "REFERENCE": str(folder / "task/reference/answer.txt"),
            "TCP": str(tcp.sockets[0].getsockname()[1]),
            "UDP": str(udp.get_extra_info("sockname")[1]),
            "ABSTRACT": abstract[1:],
            "SERVICE": str(folder / "store/service.sock"),
            "VICTIM_PID": str(world.victim.pid),
            "PLATFORM_PID": str(os.getpid()),
            "NUMBERS": json.dumps(NUMBERS),
            "TOKEN": "".join(reversed(world.token)),
            "SOURCE": str(Path(__file__).resolve().parents[3]),
            "PREFIX": sys.prefix,
        }
        world.neighbour = await stack.enter_async_context(open_box(world.config(), kind=kind))
        await world.neighbour.write("/task/output/answer.txt", world.token.encode())
        await world.neighbour.run(["bash", "-c", f"exec -a {world.token} sleep 3600 >/dev/null 2>&1 & disown"])
        yield world


def _reply(world: World) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(world.token.encode())
        writer.close()

    return serve


class _Echo(asyncio.DatagramProtocol):
    def __init__(self, world: World) -> None:
        self.world = world

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: Any) -> None:
        self.transport.sendto(self.world.token.encode(), address)


def _end(world: World) -> None:
    if world.victim is not None:
        world.victim.kill()
        world.victim.wait()


def free_port() -> int:
    """A TCP port of the host that nobody uses now."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])
