"""Agents of Python that ask their model what it rejects."""

from __future__ import annotations

from typing import Any

FILE = "/task/output/hello.txt"


async def rejected(assignment: Any) -> None:
    """Has its request rejected, and does not mind the error."""
    await assignment.write(FILE, "wrong\n")
    await assignment.model.generate("TRIGGER")


async def caught(assignment: Any) -> None:
    """Catches what it has drawn, and raises something else."""
    await assignment.write(FILE, "wrong\n")
    try:
        await assignment.model.generate("TRIGGER")
    except Exception:  # noqa: BLE001 - an agent's own code
        raise ValueError("mine") from None


async def unsent(assignment: Any) -> None:
    """Asks what no client can write."""
    await assignment.write(FILE, "wrong\n")
    await assignment.model.generate("\ud800")
