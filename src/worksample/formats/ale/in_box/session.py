"""The session that `start` and `evaluate` get: files and commands of the box they run in, with a log of every call.

Packages rely on what the original session does, even if it differs from its documentation: `run_command` never raises,
and `file_exists` is false for a folder. The true exit code is reported; the original always reports 0.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMMAND_SECONDS = 900.0
"""Time of a command that names none."""
KEPT = 4 << 20
"""Characters kept of each stream of a command."""


@dataclass(frozen=True)
class SessionCall:
    """A call of the session: its name, the path or command, and how it ended."""

    name: str
    about: str
    fault: str = ""
    """Why it failed; "" if it did not."""
    code: int = 0
    """Exit code of a command."""


@dataclass
class LocalSession:
    """A session over the files of this box. `calls`: all calls of the session, in order."""

    os_type: str = "linux"
    calls: list[SessionCall] = field(default_factory=list)

    @property
    def interface(self) -> LocalSession:
        """The lower interface, which some packages call directly."""
        return self

    def _log(self, name: str, path: object, fault: str = "") -> None:
        self.calls.append(SessionCall(name, str(path), fault))

    async def file_exists(self, path: str) -> bool:
        """Return whether a path is a regular file."""
        found = Path(path).is_file()
        self._log("file_exists", path, "" if found or Path(path).is_dir() else "is missing")
        return found

    async def directory_exists(self, path: str) -> bool:
        """Return whether a path is a folder."""
        found = Path(path).is_dir()
        self._log("directory_exists", path, "" if found or Path(path).is_file() else "is missing")
        return found

    async def exists(self, path: str) -> bool:
        """Return whether there is anything at a path."""
        found = Path(path).exists()
        self._log("exists", path, "" if found else "is missing")
        return found

    async def read_bytes(self, path: str, *given: Any, **named: Any) -> bytes:
        """Return a file's bytes."""
        try:
            data = Path(path).read_bytes()
        except OSError as fault:
            self._log("read_bytes", path, _words(fault))
            raise
        self._log("read_bytes", path)
        return data

    async def read_file(self, path: str, *given: Any, **named: Any) -> str:
        """Return a file's text."""
        data = await self.read_bytes(path)
        return data.decode("utf-8")

    read_text = read_file

    async def write_bytes(self, path: str, data: bytes, *given: Any, **named: Any) -> None:
        """Write a file, and create its folder."""
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(data)
        except OSError as fault:
            self._log("write_bytes", path, _words(fault))
            raise
        self._log("write_bytes", path)

    async def write_file(self, path: str, text: str | bytes, *given: Any, **named: Any) -> None:
        """Write a text file, and create its folder."""
        await self.write_bytes(path, text if isinstance(text, bytes) else text.encode("utf-8"))

    write_text = write_file

    async def list_dir(self, path: str) -> list[str]:
        """Return the names in a folder, sorted."""
        try:
            found = sorted(one.name for one in Path(path).iterdir())
        except OSError as fault:
            self._log("list_dir", path, _words(fault))
            raise
        self._log("list_dir", path)
        return found

    async def create_dir(self, path: str) -> None:
        """Create a folder and those above it."""
        Path(path).mkdir(parents=True, exist_ok=True)
        self._log("create_dir", path)

    makedirs = create_dir

    async def delete_dir(self, path: str) -> None:
        """Delete a folder with everything in it."""
        shutil.rmtree(path, ignore_errors=True)
        self._log("delete_dir", path)

    async def screenshot(self, *given: Any, **named: Any) -> bytes:
        """Raise RuntimeError: there is no screen."""
        self._log("screenshot", "", "there is no screen")
        raise RuntimeError("there is no screen")

    async def run_command(
        self, command: str, *given: Any, timeout: float | None = None, check: bool = False, **named: Any
    ) -> dict[str, Any]:
        """Run a shell command and return its stdout, stderr and return_code. Never raises, also with `check`."""
        done = run_shell(command, timeout or COMMAND_SECONDS)
        self.calls.append(SessionCall("run_command", command, done["stderr"][-1000:], done["return_code"]))
        return done


def run_shell(command: str, timeout: float, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run a shell command, kill its process group at the end, and return stdout, stderr and return_code."""
    process = subprocess.Popen(
        ["/bin/bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, env=None if env is None else dict(env),
    )  # fmt: skip
    late = ""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        late = f"\nthe command did not end within {timeout:g} seconds"
        _kill_group(process.pid)
        out, err = process.communicate()
    _kill_group(process.pid)
    return {
        "stdout": out.decode("utf-8", "replace")[-KEPT:], "stderr": err.decode("utf-8", "replace")[-KEPT:] + late,
        "return_code": process.returncode, "returncode": process.returncode,
    }  # fmt: skip


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _words(fault: OSError) -> str:
    return (fault.strerror or type(fault).__name__).lower()
