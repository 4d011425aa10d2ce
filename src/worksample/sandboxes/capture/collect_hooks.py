"""Collect hooks: shell commands that run after the agent's work and save to files what exists only while the box runs,
such as the content of a database.

If a hook fails, evidence is missing. The part `collected` of the submission is then marked as incomplete, the work
cannot be judged, and no grader is started.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from worksample.box import Box, FairTimeout
from worksample.errors import SandboxError
from worksample.files import Sink
from worksample.records import CaptureStatus, CollectSpec, Entry, Manifest, SubmissionPart, canonical
from worksample.store import put_canonical

COLLECTED = "collected"
SAID = "collected.json"
_TAIL = 4000
"""Maximum characters that are stored of each output stream of a hook."""


async def run_hooks(box: Box, hooks: Sequence[CollectSpec]) -> list[dict[str, Any]]:
    """Run all hooks one after the other and return a record of how each hook ended. A failing hook raises no error."""
    found = []
    for one in hooks:
        try:
            workdir = (box.config.root.workdir if box.config.root else "") or None
            done = await box.run(["sh", "-c", one.command], cwd=workdir, timeout=FairTimeout(one.timeout))
            found.append(
                {
                    "command": one.command,
                    "step": one.step,
                    "exit": None if done.timed_out else done.returncode,
                    "seconds": round(done.seconds, 3),
                    **({"lost": "the machine was too busy"} if done.starved else {}),
                    "stdout": done.stdout.decode("utf-8", "replace")[-_TAIL:],
                    "stderr": done.stderr.decode("utf-8", "replace")[-_TAIL:],
                }
            )
        except SandboxError as error:
            found.append({"command": one.command, "step": one.step, "exit": None, "lost": str(error)})
    return found


def first_failure(ran: Sequence[dict[str, Any]]) -> str:
    """Return a text about how the first failed hook ended, or "" if no hook failed."""
    for one in ran:
        if one["exit"] != 0:
            how = "did not end in time" if one["exit"] is None else f"ended with exit code {one['exit']}"
            how = f"could not be run: {one['lost']}" if "lost" in one else how
            said = str(one.get("stderr") or one.get("stdout") or "").strip()[-300:]
            return f"a collect hook {how}: {one['command'][:200]}" + (f": {said}" if said else "")
    return ""


async def hooks_part(ran: Sequence[dict[str, Any]], sink: Sink) -> SubmissionPart:
    """Return the results of the hooks as a part of a submission."""

    def keep() -> SubmissionPart:
        data = canonical({"hooks": list(ran)})
        manifest = Manifest(entries=(Entry(path=SAID, size=len(data), blob=sink.put(data)),))
        broken = first_failure(ran)
        return SubmissionPart(
            manifest=put_canonical(sink, manifest.plain()),
            status=CaptureStatus.PARTIAL if broken else CaptureStatus.COMPLETE,
            reason=broken,
            files=1,
            size=len(data),
        )

    return await asyncio.to_thread(keep)
