"""The keeper process of a workplace for people. It runs the services in their box and opens a front door on this
machine's loopback.

    python -m worksample.workplace.keeper PLAN.json

The keeper prints one line of JSON when all services run, or when they cannot be started. Then it obeys lines of JSON on
the socket `control` in its folder: status, accounts, reset, export, down. It exits after the command down, or if a
service exits.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from worksample.background_services import supervise
from worksample.box import Box, Endpoint
from worksample.errors import SandboxError, WorksampleError
from worksample.files.machine import sign_lock
from worksample.sandboxes.endpoints import serve_sockets
from worksample.sandboxes.orphan_sweeper import LOCK
from worksample.sandboxes.services import TrialServices, open_services
from worksample.tasks.workplace_settings import PORTS, WORKPLACE

from .answering_colleagues import AnsweringColleagues, answering
from .company_reader import read_company
from .export_folder import is_export, read_export, write_export
from .workplace import reset_services, seed_of_folder, services_box, workplace_over_state

CONTROL, ABOUT = "control", "about.json"
LINE = 1 << 16
READ_VERBS = ("status", "accounts")
"""The commands that are allowed for the workplace of a trial. A reset or an end would disturb the work in progress."""
ALL_VERBS = (*READ_VERBS, "reset", "export", "down")


@dataclass
class Keeper:
    """A running workplace, with the functions that carry out commands."""

    services: TrialServices
    accounts: Mapping[str, str]
    about: dict[str, Any]
    verbs: tuple[str, ...] = ALL_VERBS
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    colleagues: AnsweringColleagues | None = None
    """The colleagues who answer people, if anybody does."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one command from a connection and answer it."""
        with contextlib.suppress(ConnectionError, asyncio.LimitOverrunError):
            try:
                asked = json.loads(await reader.readline())
                async with self._turn:
                    answer = await self._obey(asked)
            except WorksampleError as error:
                answer = error_fields(error)
            except (ValueError, KeyError, TypeError):
                answer = {"failed": "this is not a command"}
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
            writer.close()

    async def _obey(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        verb, box = asked["verb"], services_box(self.services)
        if verb in ALL_VERBS and verb not in self.verbs:
            return {"failed": f"{verb} is not allowed for the workplace of a trial", "where": self.about["name"]}
        if verb == "status":
            return self.about | ({"colleagues": self.colleagues.status()} if self.colleagues is not None else {})
        if verb == "accounts":
            return {"accounts": dict(self.accounts)}
        if verb == "reset":
            return {"seconds": await self._reset(box)}
        if verb == "export":
            await box.freeze()
            try:
                state = box.output_path / WORKPLACE
                files = await asyncio.to_thread(write_export, state, dict(self.accounts), Path(asked["to"]))
            finally:
                await box.thaw()
            return {"files": files, "to": asked["to"]}
        if verb == "down":
            self.ending.set()
            return {"ending": True}
        return {"failed": f"there is no command {verb!r}"}

    async def _reset(self, box: Box) -> float:
        """Reset the services as `reset_services` does. If the services do not start again, the error tells how to
        restart the workplace.
        """
        if self.colleagues is not None:
            await self.colleagues.stop()
        try:
            seconds = await reset_services(box)
        except SandboxError as error:
            name = self.about["name"]
            next = f"worksample workplace down --name {name}"
            next += f", then worksample workplace up {self.about['from']} --name {name}"
            raise SandboxError(error.what, where=error.where, next=next, cause=error.cause) from error
        if self.colleagues is not None:
            await self.colleagues.start()
        return seconds


def error_fields(error: WorksampleError) -> dict[str, Any]:
    """Return an error in the form in which the keeper sends it to the client."""
    return {"failed": error.what, "where": error.where, "next": error.next}


async def keep(folder: Path, root: Path, names: Sequence[str], name: str, colleagues: str = "") -> None:
    """Run the workplace of the company or export in the folder `root` until a command stops it.

    colleagues: the model that plays the company's colleagues, `rules`, or "" if nobody answers. Raises WorksampleError.
    """
    there = answering(root, colleagues, names) if colleagues else ()
    if is_export(root):
        seed, kept = await asyncio.to_thread(read_export, root)
        names = tuple(one for one in names if one in kept)
    else:
        seed = await asyncio.to_thread(seed_of_folder, root, names)
    workplace = workplace_over_state(names, seed.state, name, accounts=seed.accounts)
    if there:
        workplace = replace(workplace, colleagues=there, today=read_company(root).today)
    async with (
        open_services((workplace.box,), "bubblewrap") as services,
        open_front_door(folder, services, names, seed.accounts, {"name": name, "from": str(root)}) as keeper,
    ):
        if there:
            keeper.colleagues = AnsweringColleagues(workplace, services_box(services), colleagues)
            await keeper.colleagues.start()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, keeper.ending.set)
        said = keeper.about | ({"colleagues": keeper.colleagues.status()} if keeper.colleagues is not None else {})
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()
        try:
            await supervise(keeper.ending.wait(), services.failure)
        finally:
            if keeper.colleagues is not None:
                await keeper.colleagues.stop()


@contextlib.asynccontextmanager
async def open_front_door(
    folder: Path, services: TrialServices, names: Sequence[str], accounts: Mapping[str, str], about: Mapping[str, str],
    verbs: tuple[str, ...] = ALL_VERBS,
) -> AsyncIterator[Keeper]:  # fmt: skip
    """Serve the services on this machine's loopback, and commands on a socket in `folder`, during the `async with`
    block.
    """
    doors = {one: listen_on_loopback(PORTS[one]) for one in names}
    targets = {Endpoint(one, PORTS[one]): services.target(f"service:{WORKPLACE}:{PORTS[one]}") for one in names}
    addresses = {one: f"http://{one}.localhost:{door.getsockname()[1]}/" for one, door in doors.items()}
    said = {**about, "pid": os.getpid(), "since": time.time(), "addresses": addresses}
    keeper = Keeper(services, accounts, said, verbs)
    async with serve_sockets({Endpoint(one, PORTS[one]): door for one, door in doors.items()}, targets):
        path = folder / CONTROL
        path.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(keeper.converse, path, limit=LINE)
        try:
            yield keeper
        finally:
            path.unlink(missing_ok=True)
            server.close()


def listen_on_loopback(port: int) -> socket.socket:
    """Return a socket that listens on the loopback at this port, or at a free port if this port is taken. Raises
    SandboxError.
    """
    for wanted in (port, 0):
        door = socket.socket()
        try:
            door.bind(("127.0.0.1", wanted))
            door.listen(64)
        except OSError:
            door.close()
            continue
        door.setblocking(False)
        return door
    raise SandboxError("no port of 127.0.0.1 is free for the workplace", where="workplace", next="ss -tln")


def main() -> int:
    """Run a keeper with the plan that the command line names."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    folder = Path(plan["folder"])
    with (folder / LOCK).open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.stdout.write(json.dumps({"failed": "it is already running", "where": plan["name"]}) + "\n")
            return 1
        sign_lock(lock)
        try:
            asyncio.run(keep(folder, Path(plan["root"]), tuple(plan["services"]), plan["name"], plan["colleagues"]))
        except WorksampleError as error:
            sys.stderr.write(f"{error}\n")
            with contextlib.suppress(BrokenPipeError):
                sys.stdout.write(json.dumps(error_fields(error)) + "\n")
                sys.stdout.flush()
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
