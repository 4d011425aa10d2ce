"""Functions to start, query and stop workplaces that run on this machine for people.

Each workplace has a keeper process. An exception is the workplace of a trial in which a person plays a colleague: the
process of the run serves it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from worksample.errors import ExportError, SandboxError, UsageError
from worksample.files.machine import sign_lock
from worksample.sandboxes.host_state import workplaces_folder
from worksample.sandboxes.orphan_sweeper import LOCK
from worksample.sandboxes.services import TrialServices

from .answering_colleagues import answering
from .company_reader import read_company
from .export_folder import is_export, read_export
from .keeper import CONTROL, READ_VERBS, open_front_door
from .service_programs import require_programs

USUAL = "company"
"""Default name of a running workplace."""
SECONDS = 900.0
"""Maximum seconds to wait for the keeper's answer. An export may have gigabytes."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def folder_of(name: str) -> Path:
    """Return the folder with the lock and the socket of a workplace. Raises UsageError if the name is invalid."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a workplace: use lower case letters, digits, _ and -", where="workplace",
            next=f"--name {USUAL}",
        )  # fmt: skip
    return workplaces_folder() / name


def start(root: Path, services: Sequence[str], name: str, colleagues: str = "") -> dict[str, Any]:
    """Start the workplace of a company or an export, and leave it running. Return its name, addresses and keeper.

    colleagues: the model that plays the company's colleagues, `rules`, or "" if nobody answers in the chat.

    Raises ManifestError if the company is invalid; ExportError if the export is invalid; SandboxError if the services
    cannot be started; UsageError if a workplace of this name is running.
    """
    require_programs(services)
    root = root.resolve()
    if is_export(root):
        read_export(root)
    else:
        read_company(root)
    if colleagues:
        answering(root, colleagues, services)
    folder = folder_of(name)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if is_running(name):
        raise UsageError(
            "a workplace of this name is already running", where=name, next=f"worksample workplace down --name {name}"
        )
    plan = {
        "folder": str(folder),
        "root": str(root),
        "services": list(services),
        "name": name,
        "colleagues": colleagues,
    }
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    with (folder / "log").open("wb") as log:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "worksample.workplace.keeper", str(folder / "plan.json")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True, cwd="/",
        )  # fmt: skip
    assert keeper.stdout is not None
    with keeper.stdout as answers:
        line = answers.readline()
    if not line:
        last = (folder / "log").read_text(errors="replace", encoding="utf-8").strip()[-1000:]
        said = f"the workplace's keeper process ended: {last or 'without output'}"
        raise SandboxError(said, where=name, next=f"read {folder / 'log'}, then worksample doctor")
    return _answer(line, name)


def send_command(name: str, verb: str, **more: str) -> dict[str, Any]:
    """Send a command and return the keeper's answer. Raises UsageError if no workplace of this name is running."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(SECONDS)
            line.connect(str(folder_of(name) / CONTROL))
            line.sendall(json.dumps({"verb": verb, **more}).encode() + b"\n")
            with line.makefile("rb") as said:
                data = said.readline()
    except (FileNotFoundError, ConnectionError):
        hint = f"worksample workplace up FOLDER --name {name}"
        raise UsageError("no workplace of this name is running", where=name, next=hint) from None
    except TimeoutError:
        raise SandboxError(
            "the workplace's keeper process does not answer",
            where=name,
            next=f"worksample workplace down --name {name}",
        ) from None
    return _answer(data, name)


@contextlib.asynccontextmanager
async def open_trial_workplace(
    trial: str, services: TrialServices, names: Sequence[str], accounts: Mapping[str, str]
) -> AsyncIterator[dict[str, Any]]:
    """Let people use the workplace of a trial during the `async with` block. The commands `worksample workplace status`
    and `open` find the workplace. People can use only the given accounts. Yields the status of the workplace.
    """
    name = f"trial-{re.sub('[^a-z0-9]', '', trial.lower())[-24:]}"
    folder = folder_of(name)
    try:
        with _lock_folder(folder):
            about = {"name": name, "from": f"trial {trial}"}
            async with open_front_door(folder, services, names, accounts, about, READ_VERBS) as keeper:
                yield keeper.about
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lock_folder(folder: Path) -> IO[str]:
    """Create a folder and lock it, even if a concurrent sweep removes the folder between the two steps."""
    while True:
        with contextlib.suppress(FileNotFoundError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (folder / LOCK).open("a", encoding="utf-8")
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock.fileno()).st_nlink:
                sign_lock(lock)
                return lock
            lock.close()


def stop(name: str) -> None:
    """Stop a workplace and wait until it is gone. Raises UsageError if no workplace of this name is running."""
    send_command(name, "down")
    with (folder_of(name) / LOCK).open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def is_running(name: str) -> bool:
    """Return whether a workplace of this name runs. Its keeper holds a lock until the keeper exits."""
    try:
        with (folder_of(name) / LOCK).open("r", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def list_running() -> Iterator[dict[str, Any]]:
    """Yield the status of each running workplace, sorted by name."""
    for path in sorted(workplaces_folder().glob("*")):
        if _NAME.fullmatch(path.name) and is_running(path.name):
            try:
                yield send_command(path.name, "status")
            except UsageError:
                continue  # it is starting, or ending


def _answer(line: bytes, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:
        raise SandboxError(
            "the workplace's keeper process ended during the command",
            where=name,
            next=f"worksample workplace up FOLDER --name {name}",
        ) from None
    if "failed" in found:
        kind = ExportError if found.get("where", "").startswith("export") else SandboxError
        raise kind(found["failed"], where=found.get("where") or name, next=found.get("next", ""))
    return found
