"""The grader's connection to the broker: requests for actions that a grader may not perform itself, such as running the
agent's programs.

A Unix socket connects the grading box to the platform. Each message is a frame: four bytes with the length of the JSON
text, most significant byte first, then the JSON text. A request is `{"verb": name, "number": n, "body": {...}}`. Its
answer is `{"number": n, "answer": {...}}`, or `{"number": n, "failed": text, "cause": cause}`.

The broker is part of `worksample.grading`. It runs programs in a box without the reference.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause, DeliverableError, GraderError

if TYPE_CHECKING:
    import socket

HEAD = Struct("!I")
REQUEST_LIMIT = 16 << 20
"""Maximum size of a request in bytes, with the files that it contains."""
PATIENCE = 6 * 3600.0
"""Smallest time limit for an answer of the broker, in seconds. Programs with a long timeout get a larger limit.

The platform limits the processor time of a program. On a busy machine, the elapsed time is much longer than the
processor time. Unpacking the root file system for a verifier takes additional time.
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a program that the broker ran. `exit` is None if the program exceeded its time limit. `stdout` and
    `stderr` are cut at the output limit of the box.
    """

    exit: int | None
    stdout: str
    stderr: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Contents of the files to collect, by name. Files that the program did not write are left out."""
    left: str = ""
    """The reason why no verifier was run for a step that the agent did not start; empty if the verifier was run."""

    @property
    def timed_out(self) -> bool:
        return self.exit is None

    def file(self, name: str) -> bytes:
        """Return the content of a collected file. Raises DeliverableError if the program did not write the file."""
        if name not in self.files:
            raise DeliverableError("the program did not write this file", where=name)
        return self.files[name]


def pack(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def unpack(text: Any) -> bytes:
    """Decode Base64 text. Raises ValueError if `text` is not valid Base64."""
    if not isinstance(text, str):
        raise ValueError("the data is not valid Base64")
    import base64
    import binascii

    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("the data is not valid Base64") from error


def frame(message: Mapping[str, Any]) -> bytes:
    """Encode a message as a frame: four bytes with the length of the JSON text, then the JSON text."""
    data = json.dumps(message).encode()
    return HEAD.pack(len(data)) + data


class BrokerClient:
    """A connection to the broker through the socket at `path`.

    Threads share the connection and send one request at a time. Each process opens its own connection.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._owner = 0
        self._count = 0

    def run(
        self, argv: Sequence[str], *, files: Mapping[str, bytes | str | Path], stdin: str, collect: Sequence[str],
        timeout: float,
    ) -> Ran:  # fmt: skip
        """Ask the broker to run a program; see `Case.run` for the arguments."""
        if not argv or not all(isinstance(a, str) and "\0" not in a for a in argv):
            raise GraderError(
                "the program to run is not a list of texts",
                cause=Cause.GRADER_CRASH,
                next='pass a list, such as ["python3", "main.py"]',
            )
        body = {
            "argv": list(argv),
            "stdin": stdin,
            "collect": list(collect),
            "timeout": float(timeout),
            "files": {name: pack(_content(data)) for name, data in files.items()},
        }
        return ran_from(self.ask("run", body, patience=max(PATIENCE, 30 * timeout)))

    def verify(self, timeout: float, step: str = "") -> Ran:
        """Ask the broker to run the verifier; see `Case.verify`.

        timeout: seconds that the verifier may take. The time to unpack its root file system is not counted.
        """
        body = {"step": step} if step else {}
        return ran_from(self.ask("verify", body, patience=max(PATIENCE, 30 * timeout)))

    def ask(self, verb: str, body: Mapping[str, Any], *, patience: float) -> dict[str, Any]:
        """Send a request to the broker and return the answer.

        Raises GraderError if the request is too large, if no answer arrives within `patience` seconds, or if the answer
        reports a failure.
        """
        with self._lock:
            self._count += 1
            message = frame({"verb": verb, "number": self._count, "body": body})
            if len(message) > REQUEST_LIMIT:
                raise GraderError(
                    f"a request's files exceed {REQUEST_LIMIT:,} bytes",
                    cause=Cause.GRADER_CRASH,
                    next="pass fewer or smaller files, since submission and inputs are in the box already",
                )
            try:
                line = self._line(patience)
                line.sendall(message)
                (length,) = HEAD.unpack(_exactly(line, HEAD.size))
                answer: dict[str, Any] = json.loads(_exactly(line, length))
            except OSError as error:
                self._hang_up()
                raise GraderError(
                    f"the broker does not answer: {error}", cause=Cause.GRADER_SANDBOX, next="worksample doctor"
                ) from error
        if answer.get("failed"):
            cause = Cause(answer.get("cause", Cause.GRADER_SANDBOX))
            raise GraderError(str(answer["failed"]), cause=cause, next="worksample task check FOLDER")
        found: dict[str, Any] = answer["answer"]
        return found

    def _line(self, patience: float) -> socket.socket:
        import socket

        if self._socket is None or self._owner != os.getpid():
            self._socket, self._owner = socket.socket(socket.AF_UNIX), os.getpid()
            # Through a descriptor of its folder, since the address of a socket has at most 107 bytes.
            folder = os.open(self.path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._socket.settimeout(patience)
                self._socket.connect(f"/proc/self/fd/{folder}/{self.path.name}")
            finally:
                os.close(folder)
        self._socket.settimeout(patience)
        return self._socket

    def _hang_up(self) -> None:
        """Close the connection. A late answer to this request is then never read as the answer to the next request."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _exactly(line: socket.socket, count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        piece = line.recv(min(count - len(found), 1 << 20))
        if not piece:
            raise ConnectionError("the connection was closed")
        found += piece
    return bytes(found)


def _content(data: bytes | str | Path) -> bytes:
    if isinstance(data, Path):
        return data.read_bytes()
    return data.encode() if isinstance(data, str) else data


def ran_from(answer: Mapping[str, Any]) -> Ran:
    """Return the result of a program from an answer of the broker."""
    return Ran(
        exit=answer["exit"],
        stdout=unpack(answer["stdout"]).decode("utf-8", "replace"),
        stderr=unpack(answer["stderr"]).decode("utf-8", "replace"),
        files={name: unpack(data) for name, data in answer.get("files", {}).items()},
        left=str(answer.get("left", "")),
    )
