"""A call of `start()` for the Linux instances of a package, in a box with the package's folders and without data."""

from __future__ import annotations

import asyncio
import posixpath
from contextlib import suppress
from pathlib import Path
from typing import Any

from worksample.box import FairTimeout
from worksample.errors import ForeignInputError
from worksample.files.untrusted.json_limits import JsonLimits, read_json
from worksample.sandboxes import open_box
from worksample.sandboxes.python_toolbox import base_python

from .listing import IN_BOX, TASKS, AleListing, package_box
from .obstacles import path_fault

_LIMITS = JsonLimits(size=1 << 20, values=4_000, depth=4)
SECONDS = 120.0
"""Time of all calls for one package."""


async def start_faults(listing: AleListing, checkout: Path, *, sandbox: str = "bubblewrap") -> dict[str, str]:
    """Return instance -> why `start()` failed, "" if it did not, for each Linux instance whose folders a box can have.

    Without the instance's data, `start()` fails if it looks for them. Raises SandboxError if the box fails.
    """
    able = [one for one in listing.instances if one.system == "linux" and not path_fault(one.paths)]
    if not able or listing.fault:
        return {}
    config = package_box(checkout, _outermost({posixpath.dirname(path) for one in able for path in one.paths.values()}))
    target = f"{config.output}/started.json"
    places = [IN_BOX, posixpath.dirname(IN_BOX)]
    code = f"import sys; sys.path[:0] = {places!r}; from in_box.start_instances import main; main()"
    numbers = ",".join(str(one.index) for one in able)
    arguments = [posixpath.dirname(TASKS), f"tasks/{listing.package.place}", target, numbers]
    async with open_box(config, kind=sandbox) as box:
        done = await box.run(
            [str(base_python()), "-S", "-B", "-P", "-c", code, *arguments], timeout=FairTimeout(SECONDS)
        )
        found: Any = None
        with suppress(ForeignInputError, OSError):
            found = await asyncio.to_thread(read_json, await box.read(target, _LIMITS.size), _LIMITS, "start()")
    ended = "did not end in time" if done.timed_out else f"ended the program (exit code {done.returncode})"
    told = found if isinstance(found, dict) else {}
    return {one.name: str(told.get(str(one.index), ended))[:300] for one in able}


def _outermost(folders: set[str]) -> tuple[str, ...]:
    """Return the folders that lie in no other of them."""
    return tuple(sorted(one for one in folders if not any(one.startswith(f"{other}/") for other in folders)))
