"""What a box needs of the program that made its namespaces, and that can end it."""

from __future__ import annotations

import socket
from typing import Any, Protocol


class Holder(Protocol):
    """Who made the box's namespaces: what only the host can do to it. All but `start` may block."""

    async def start(self) -> socket.socket:
        """Start the exec server; return our end of the line to it. Raises SandboxError."""
        ...

    def plan(self) -> dict[str, Any]:
        """What the exec server is told first (`layout.plan`)."""
        ...

    def adopt(self) -> None:
        """While the exec server starts: note who it is, so that it can be ended whatever becomes of us."""
        ...

    def said(self) -> str:
        """What whoever started it, and the exec server, had to say."""
        ...

    def oom_kills(self) -> int:
        """How many processes of the box the kernel has ended for want of memory."""
        ...

    def processor_seconds(self) -> float | None:
        """Seconds of the processors that the box has had; None where nobody counts."""
        ...

    def freeze(self, frozen: bool) -> bool:
        """Stop or continue every process; False where the exec server has to do it. Raises SandboxError."""
        ...

    def hurry(self) -> None:
        """Give a box in the background a fair share of the processors, where that can be done."""
        ...

    def end(self) -> None:
        """End every process of the box, and wait until they are gone. Raises SandboxError. Harmless when done twice."""
        ...

    def remove(self) -> None:
        """Remove what the box left on the host; nothing of it runs any more."""
        ...
