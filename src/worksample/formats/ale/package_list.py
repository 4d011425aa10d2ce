"""The list of a checkout's packages: the instances of each, and how its `start()` ended."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .checkout import AlePackage
from .listing import SECONDS, AleListing, list_package
from .start_check import start_faults


def list_packages(
    packages: Sequence[AlePackage], checkout: Path, *, sandbox: str = "bubblewrap", seconds: float = SECONDS
) -> list[AleListing]:
    """List the instances of each package, in order; a faulty package has a `fault`. Raises SandboxError.

    seconds: the time of one call of `load()`.
    """
    return asyncio.run(_list_all(packages, checkout, sandbox, seconds))


async def _list_all(packages: Sequence[AlePackage], checkout: Path, sandbox: str, seconds: float) -> list[AleListing]:
    places = asyncio.Semaphore(os.cpu_count() or 1)

    async def list_one(package: AlePackage) -> AleListing:
        async with places:
            found = await list_package(package, checkout, sandbox=sandbox, seconds=seconds)
            return replace(found, starts=await start_faults(found, checkout, sandbox=sandbox))

    return list(await asyncio.gather(*map(list_one, packages)))
