"""A session with the box in which an agent will work: its files and its programs.

The function `start` of a task's `task.py` gets a session. It runs in a box of its own; each call is a request to the
broker, which carries it out in the agent's box.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from worksample.errors import Cause, GraderError

from .broker_client import PATIENCE, BrokerClient, Ran, pack, ran_from, unpack

READ_LIMIT = 8 << 20
"""Maximum size of a file that a session reads or writes, in bytes."""


class Session:
    """A session with an agent's box. Paths are absolute paths in that box.

    All methods raise GraderError if the box is lost.
    """

    def __init__(self, broker: BrokerClient) -> None:
        self._broker = broker

    def is_file(self, path: str) -> bool:
        """Return whether there is a regular file at a path."""
        return bool(self._call("kind", path)["kind"] == "file")

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder at a path."""
        return bool(self._call("kind", path)["kind"] == "folder")

    def read_bytes(self, path: str) -> bytes:
        """Return the content of a file of at most 8 MiB. Raises OSError if it cannot be read."""
        return unpack(self._call("read", path)["data"])

    def read_text(self, path: str) -> str:
        """Return the text of a UTF-8 file. Raises OSError if it cannot be read, and ValueError if it is not UTF-8."""
        return self.read_bytes(path).decode("utf-8")

    def write_bytes(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Create or replace a file, with the folders above it. Raises OSError if it cannot be written."""
        self._call("write", path, data=pack(data), mode=mode)

    def write_text(self, path: str, text: str, mode: int = 0o644) -> None:
        """Create or replace a text file in UTF-8. Raises OSError if it cannot be written."""
        self.write_bytes(path, text.encode(), mode)

    def list_folder(self, path: str) -> list[str]:
        """Return the names in a folder in alphabetical order. Raises OSError if it cannot be read."""
        names: list[str] = self._call("list", path)["names"]
        return names

    def make_folder(self, path: str) -> None:
        """Create a folder and those above it. Raises OSError if that fails."""
        self._call("make", path)

    def delete(self, path: str) -> None:
        """Delete a file, or a folder with everything in it. Nothing happens if there is nothing."""
        self._call("delete", path)

    def run(self, argv: Sequence[str], *, stdin: str = "", cwd: str = "", timeout: float = 60.0) -> Ran:
        """Run a program of the box to its end, as the box's user. timeout: seconds of the program's own time.

        Processes that the program leaves in the background go on.
        """
        return ran_from(self._call("run", cwd, argv=_words(argv), stdin=stdin, timeout=float(timeout)))

    def start_application(self, argv: Sequence[str], *, cwd: str = "") -> None:
        """Start a program that goes on in the background. Raises OSError if the program cannot be started."""
        self._call("application", cwd, argv=_words(argv))

    def _call(self, name: str, path: str, **given: Any) -> dict[str, Any]:
        if path and not PurePosixPath(path).is_absolute():
            raise GraderError(
                f"{path!r} is not an absolute path", cause=Cause.GRADER_CRASH, next="give the path from / in task.py"
            )
        answer = self._broker.ask("session", {"call": name, "path": path, **given}, patience=PATIENCE)
        if (number := answer.get("errno")) is not None:
            raise OSError(int(number), str(answer.get("strerror", "")), path)
        return answer


def _words(argv: Sequence[str]) -> list[str]:
    if isinstance(argv, str) or not argv or not all(isinstance(a, str) and "\0" not in a for a in argv):
        raise GraderError(
            "the program to run is not a list of texts",
            cause=Cause.GRADER_CRASH,
            next='pass a list: ["sh", "-c", "..."]',
        )
    return list(argv)
