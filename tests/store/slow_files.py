"""A file system for fsspec that takes its time: a folder of this machine behind `slow://`, seen by all processes.

As an object store: a put is atomic, and folders need not be made. `SlowFiles.during` is called within each operation
with its name and path; by default it takes 0.1 seconds.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

LATENCY = 0.1


def take_time(operation: str, path: str) -> None:
    time.sleep(LATENCY)


class SlowFiles(LocalFileSystem):  # type: ignore[misc]
    protocol = ("slow",)
    during: Callable[[str, str], None] = staticmethod(take_time)

    @classmethod
    def _strip_protocol(cls, path: Any) -> str:
        return str(path).removeprefix("slow://").rstrip("/")

    def exists(self, path: str, **_: Any) -> bool:
        type(self).during("exists", path)
        return Path(path).exists()

    def cat_file(self, path: str, *_: Any, **__: Any) -> bytes:
        type(self).during("cat", path)
        return Path(path).read_bytes()

    def pipe_file(self, path: str, value: bytes, *_: Any, **__: Any) -> None:
        type(self).during("put", path)
        draft = Path(f"{path}.{uuid.uuid4().hex}.draft")
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(value)
        draft.rename(path)

    def put_file(self, source: str, path: str, *_: Any, **__: Any) -> None:
        self.pipe_file(path, Path(source).read_bytes())

    def get_file(self, path: str, target: str, *_: Any, **__: Any) -> None:
        Path(target).write_bytes(self.cat_file(path))

    def rm_file(self, path: str) -> None:
        type(self).during("remove", path)
        Path(path).unlink()

    def ls(self, path: str, detail: bool = False, **rest: Any) -> Any:
        type(self).during("list", path)
        return super().ls(path, detail=detail, **rest)


fsspec.register_implementation("slow", SlowFiles, clobber=True)


class Meeting:
    """`during` for tests: so many threads must be within a put of a record at the same time, or all of them fail."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties, timeout=300)

    def __call__(self, operation: str, path: str) -> None:
        if operation == "put" and "/records/" in path:
            self.barrier.wait()


class Gate:
    """`during` for tests: a put of a record waits until it is let through."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, operation: str, path: str) -> None:
        if operation == "put" and "/records/" in path:
            self.reached.set()
            assert self.opened.wait(60)
