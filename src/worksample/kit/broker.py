"""How a grader has a program of the agent's run elsewhere: requests and answers as files in a shared scratch folder.

`0001.request.json` goes out, written whole and renamed; `0001.answer.json` comes back and ends in a line feed. The
other end is `worksample.grading`, which runs the program in a box that has no reference.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.errors import Cause, DeliverableError, GraderError

REQUEST_LIMIT = 16 << 20
"""Bytes of a request, files included."""
PATIENCE = 60.0
"""Seconds beyond a program's own time that an answer may take."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program did. `exit` is None where it was stopped at its time; output is cut at the box's limit."""

    exit: int | None
    stdout: str
    stderr: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Those of the collected files that exist: name -> content."""

    @property
    def timed_out(self) -> bool:
        return self.exit is None

    def file(self, name: str) -> bytes:
        """A collected file. DeliverableError where the program did not write it."""
        if name not in self.files:
            raise DeliverableError("the program did not write it", where=name)
        return self.files[name]


def pack(data: bytes) -> str:
    return base64.b64encode(data).decode()


def unpack(text: Any) -> bytes:
    """ValueError for anything but Base64 text."""
    if not isinstance(text, str):
        raise ValueError("no Base64")
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("no Base64") from error


class Broker:
    """The grader's end. `folder`: where both ends read and write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def run(
        self, argv: Sequence[str], *, files: Mapping[str, bytes | str | Path], stdin: str, collect: Sequence[str],
        timeout: float,
    ) -> Ran:  # fmt: skip
        """As `Case.run`."""
        if not argv or not all(isinstance(a, str) and "\0" not in a for a in argv):
            raise GraderError("a program is a list of texts", cause=Cause.GRADER_CRASH)
        self.count += 1
        request = {
            "argv": list(argv),
            "stdin": stdin,
            "collect": list(collect),
            "timeout": float(timeout),
            "files": {name: pack(_content(data)) for name, data in files.items()},
        }
        data = json.dumps(request).encode()
        if len(data) > REQUEST_LIMIT:
            raise GraderError(f"a run's files exceed {REQUEST_LIMIT:,} bytes", cause=Cause.GRADER_CRASH)
        whole = self.folder / f"{self.count:04}.request.json"
        part = whole.with_suffix(".part")
        part.write_bytes(data)
        part.rename(whole)
        return _ran(self._answer(timeout + PATIENCE))

    def _answer(self, patience: float) -> dict[str, Any]:
        path = self.folder / f"{self.count:04}.answer.json"
        end = time.monotonic() + patience
        data = b""
        while not data.endswith(b"\n"):  # the other end cannot rename: the last byte says that it is whole
            if time.monotonic() > end:
                raise GraderError("nobody ran the program", cause=Cause.GRADER_SANDBOX)
            time.sleep(0.02)
            data = path.read_bytes() if path.exists() else b""
        answer: dict[str, Any] = json.loads(data)
        if answer.get("failed"):
            raise GraderError(str(answer["failed"]), cause=Cause(answer.get("cause", Cause.GRADER_SANDBOX)))
        return answer


def _content(data: bytes | str | Path) -> bytes:
    if isinstance(data, Path):
        return data.read_bytes()
    return data.encode() if isinstance(data, str) else data


def _ran(answer: Mapping[str, Any]) -> Ran:
    return Ran(
        exit=answer["exit"],
        stdout=unpack(answer["stdout"]).decode("utf-8", "replace"),
        stderr=unpack(answer["stderr"]).decode("utf-8", "replace"),
        files={name: unpack(data) for name, data in answer.get("files", {}).items()},
    )
