"""The log files of a command-line agent, as a part of the submission. They are read in the box with the agent's rights
and stored unchanged.
"""

from __future__ import annotations

import asyncio
import io
import tarfile
from typing import TYPE_CHECKING

from worksample.agents.command_harness import HOME
from worksample.errors import SandboxError
from worksample.records import CaptureStatus, Entry, EntryKind, Manifest, SubmissionPart, path_fault
from worksample.store import put_canonical

if TYPE_CHECKING:
    from worksample.box import Box
    from worksample.files import Sink

MOST = 32 << 20
"""Maximum size of the tar archive with an agent's log files, in bytes."""
MEMBERS = 20_000
SECONDS = 20.0


async def agent_log(box: Box, sink: Sink, places: tuple[str, ...]) -> SubmissionPart:
    """Store the files at `places`, which are paths below the agent's home folder.

    The agent can write these files, so they must never fail the trial. If they cannot be read, the returned part has a
    status and a reason. Raises StoreError if the files cannot be stored.
    """
    argv = ["tar", "--create", "--file=-", "--ignore-failed-read", "--sort=name", "-C", HOME, "--", *places]
    try:
        done = await box.run(argv, timeout=SECONDS, output_limit=MOST)
    except SandboxError as error:
        return await asyncio.to_thread(_part, sink, {}, str(error))
    files, whole = await asyncio.to_thread(_files, done.stdout)
    reason = (
        "" if whole and not done.truncated else f"the log exceeds {MOST} bytes or {MEMBERS} files, or was cut short"
    )
    if done.timed_out:
        reason = f"not read within {SECONDS:.0f} seconds"
    return await asyncio.to_thread(_part, sink, files, reason)


def _files(archive: bytes) -> tuple[dict[str, bytes], bool]:
    """Return the regular files of a tar archive by path, and whether the whole archive could be read.

    The archive is untrusted, because an agent with root rights in its image may have replaced `tar`. A header may then
    claim any size, describe sparse files, or be nested without end.
    """
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for count, member in enumerate(tar):
                if count >= MEMBERS or member.issparse() or not 0 <= member.size <= len(archive):
                    return found, False
                if member.isreg() and not path_fault(member.name):
                    file = tar.extractfile(member)
                    data = file.read() if file is not None else b""
                    if len(data) < member.size:
                        return found, False
                    found[member.name] = data
    except (tarfile.TarError, ValueError, EOFError, OverflowError, RecursionError):
        return found, False
    return found, True


def _part(sink: Sink, files: dict[str, bytes], reason: str) -> SubmissionPart:
    entries = tuple(
        Entry(path=path, kind=EntryKind.FILE, size=len(data), blob=sink.put(data))
        for path, data in sorted(files.items())
    )
    status = CaptureStatus.PARTIAL if reason else CaptureStatus.COMPLETE
    if not files:
        status = CaptureStatus.ABSENT
    digest = put_canonical(sink, Manifest(entries=entries).plain())
    size = sum(len(data) for data in files.values())
    return SubmissionPart(manifest=digest, status=status, reason=reason, files=len(files), size=size)
