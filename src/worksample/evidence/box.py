"""As much of a box as capturing needs. The sandboxes' boxes have it; so may others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Ran(Protocol):
    @property
    def returncode(self) -> int: ...
    @property
    def stdout(self) -> bytes: ...
    @property
    def stderr(self) -> bytes: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def truncated(self) -> bool: ...


class Box(Protocol):
    """Every method raises SandboxError where the box is lost."""

    @property
    def output_path(self) -> Path:
        """The output folder from the host's side: a path, or a descriptor's way below /proc."""
        ...

    async def freeze(self) -> None: ...

    async def thaw(self) -> None: ...

    async def clear(self) -> None:
        """End every process that runs in the box."""
        ...

    async def run(
        self,
        argv: Sequence[str],
        *,
        input: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        output_limit: int | None = None,
    ) -> Ran: ...
