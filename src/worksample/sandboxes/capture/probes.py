"""The probes of an instance: programs that run after the work in the agent's box, so that graders can read their
output.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from worksample.box import Box, FairTimeout
from worksample.errors import SandboxError
from worksample.files import Sink, read_manifest
from worksample.records import CaptureStatus, Entry, Instance, Manifest, SubmissionPart, quote_path
from worksample.stall_tolerant_loop import steady_time
from worksample.store import put_canonical


class BlobStore(Sink, Protocol):
    """A store of blobs that can be written and read, such as `Store.blobs`."""

    def read(self, digest: str, limit: int | None = None) -> bytes: ...


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """Limits of probes."""

    seconds: float = 60.0
    """Maximum seconds of each probe."""
    output: int = 4 << 20
    """Maximum bytes that a probe may print."""
    script: int = 1 << 20
    """Maximum bytes of a probe's script."""
    python: str = ""
    """Path of the Python interpreter inside the box that runs probes. If empty, probes run with the base interpreter of
    the platform's own environment, which boxes mount read-only.
    """


NOT_STARTED = 126
"""Exit status of a command if the box could not start its program."""
_CROWDED = os.strerror(errno.EAGAIN).encode()


class _Failed(Exception):
    """Error: a probe gave no result. The message says why."""


async def run_probes(
    box: Box, blobs: BlobStore, instance: Instance, limits: ProbeLimits, until: float = float("inf")
) -> SubmissionPart:
    """Run each probe in `instance.capture.probe_names` and store its output. A failing probe raises no error.

    A probe is one file in `probes/`, `NAME.py` or `NAME.sh`. An interpreter reads the file from standard input, so
    nothing in the box can replace it. The probe runs in the box's output folder, with WORKSAMPLE_INPUT,
    WORKSAMPLE_SOFTWARE and WORKSAMPLE_OUTPUT in its environment.

    No probe starts after `until` (a value of `steady_time`). If the box's process limit leaves no room for the probe,
    all other processes are killed.

    The output of a probe becomes `NAME.json` if the output is JSON, otherwise `NAME.txt`. A failed probe has no file;
    the part then has the status `partial` and the reason.
    """
    entries, failures = [], []
    for name in instance.capture.probe_names:
        stem = PurePosixPath(name).with_suffix("").as_posix() if name.endswith((".py", ".sh")) else name
        try:
            printed = await _probe(box, blobs, instance, name, limits, until)
        except (_Failed, SandboxError) as e:
            failures.append(f"{stem}: {e}")
            continue
        path = quote_path(f"{stem}.{'json' if _is_json(printed) else 'txt'}".encode())
        blob = await asyncio.to_thread(blobs.put, printed)
        entries.append(Entry(path=path, size=len(printed), blob=blob))
    manifest = Manifest(entries=tuple(sorted(entries, key=lambda e: e.path)))
    status = CaptureStatus.COMPLETE
    if failures:
        status = CaptureStatus.PARTIAL if entries else CaptureStatus.ABSENT
    return SubmissionPart(
        manifest=await asyncio.to_thread(put_canonical, blobs, manifest.plain()),
        status=status,
        reason="; ".join(failures),
        files=len(entries),
        size=manifest.size,
    )


async def _probe(box: Box, blobs: BlobStore, instance: Instance, name: str, limits: ProbeLimits, until: float) -> bytes:
    manifest = read_manifest(await asyncio.to_thread(blobs.read, instance.capture.probes))
    entry = next((e for end in ("", ".py", ".sh") if (e := manifest.find(name + end)) and e.blob), None)
    if entry is None or entry.blob is None:
        raise _Failed("there is no such script in probes/")
    if entry.size > limits.script:
        raise _Failed(f"the probe's script is larger than {limits.script:,} bytes")
    if entry.path.endswith(".py"):
        python = limits.python or str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
        argv = [python if instance.work.environment.image is None else "python3", "-I", "-"]
    elif entry.path.endswith(".sh"):
        argv = ["/bin/sh", "-s"]
    else:
        raise _Failed("a probe must be a .py or .sh file")
    paths = instance.work.environment.paths
    env = {"WORKSAMPLE_INPUT": paths.input, "WORKSAMPLE_SOFTWARE": paths.software, "WORKSAMPLE_OUTPUT": paths.output}
    for last in (False, True):
        left = until - steady_time()
        if left <= 0:
            raise _Failed("no time was left to run the probe")
        timeout = FairTimeout(limits.seconds)
        timeout.backstop = min(timeout.backstop, left)
        ran = await box.run(
            argv,
            input=await asyncio.to_thread(blobs.read, entry.blob),
            cwd=paths.output,
            env=env,
            timeout=timeout,
            output_limit=limits.output,
        )
        if last or ran.returncode != NOT_STARTED or _CROWDED not in ran.stderr:
            break
        await box.clear()
    if ran.starved:
        raise _Failed(
            f"the machine was too busy: the probe got {ran.counted:.1f} of {ran.seconds:.0f} seconds of processor time"
        )
    if ran.timed_out:
        raise _Failed(f"the probe did not end within {limits.seconds:g} seconds")
    if ran.truncated:
        raise _Failed(f"the probe printed more than {limits.output:,} bytes")
    if ran.returncode != 0:
        raise _Failed(f"the probe ended with exit code {ran.returncode}: {_tail(ran.stderr)}")
    return ran.stdout


def _tail(printed: bytes) -> str:
    """Return the end of a probe's output as printable text."""
    text = printed[-500:].decode("utf-8", "replace").strip()
    return "".join(c if c.isprintable() else " " for c in text)


def _is_json(printed: bytes) -> bool:
    try:
        json.loads(printed)
    except (ValueError, RecursionError):
        return False
    return True
