"""Files converted in a box: what goes in, how long it may take, what comes out."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.box import Box, BoxConfig, BoxLimits, Completed, Mount, open_box
from worksample.errors import SandboxError, SandboxUnavailable
from worksample.files import ScanLimits, Sink, scan
from worksample.models.exhibit import Visibility
from worksample.records import Entry, Manifest, canonical

if TYPE_CHECKING:
    from worksample.store import Store

IN, OUT, WORK = "/task/in", "/task/output", "/task/scratch"
LIMITS = BoxLimits(memory=2 << 30, processes=256, disk=1 << 30, files=30_000, output=16 << 20)
TAKEN = ScanLimits(files=20_000, bytes=1 << 30)
"""Of one file's artefacts."""
SECONDS = {"media": 600.0, "workbook": 300.0, "office": 180.0}
"""Time for a family of formats."""
USUAL_SECONDS = 90.0
BATCH = 100
"""Light files that share a process."""
BATCH_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Raw:
    """What a box said of a file. `plain`: the converter's own words, unchecked; None where it gave none.

    `files`: blobs by path below the output folder; `fault`: why there is nothing; `blame`: whose fault that is;
    `kept`: for how many seconds that counts; None is for good.
    """

    plain: dict[str, Any] | None = None
    files: dict[str, str] = field(default_factory=dict)
    manifest: Manifest = field(default_factory=Manifest)
    fault: str = ""
    blame: Visibility = Visibility.CRASHED
    kept: float | None = None

    @property
    def family(self) -> str:
        return str((self.plain or {}).get("family", ""))


@dataclass(frozen=True, slots=True)
class Converter:
    """Boxes over one manifest."""

    store: Store
    manifest: Manifest
    limits: BoxLimits = LIMITS
    seconds: float | None = None
    """Instead of each family's own time."""

    @property
    def usual(self) -> bool:
        """Only failures under the usual limits say something of the file."""
        return self.limits == LIMITS and self.seconds is None

    def config(self) -> BoxConfig:
        """Lays the manifest's folder out. Raises what `Store.folder` does."""
        digest = self.store.blobs.put(canonical(self.manifest.plain()))
        folder = str(self.store.folder(digest))
        return BoxConfig(
            mounts=(Mount(folder, IN),),
            output=OUT,
            scratch=WORK,
            env=(("PYTHONDONTWRITEBYTECODE", "1"), ("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1")),
            limits=self.limits,
            python="platform",
            label="view",
            background=True,  # a server's own answers do not wait for views
        )

    async def light(self, config: BoxConfig, entries: Sequence[Entry]) -> dict[int, Raw]:
        """Many files in one process: the views of those that are light, and the family of the others.

        A file that brings the process down, and those after it, are not in the answer.
        """
        try:
            async with open_box(config) as box:
                done = await box.run(COMMAND, input=order(entries, light=True), timeout=BATCH_SECONDS)
                return await self._taken(box, done, len(entries))
        except SandboxUnavailable:
            raise
        except SandboxError:
            return {}

    async def one(self, config: BoxConfig, entry: Entry, family: str = "", *, plain: bool = False) -> Raw:
        """One file in a box of its own; never raises for what the file does."""
        seconds = self.seconds or SECONDS.get(family, USUAL_SECONDS)
        try:
            async with open_box(config) as box:
                done = await box.run(COMMAND, input=order([entry], light=False, plain=plain), timeout=seconds)
                found = await self._taken(box, done, 1)
        except SandboxUnavailable:
            raise
        except SandboxError as error:
            return Raw(fault=f"its box was lost: {error.what}", kept=0.0)
        blame = Visibility.FILE if done.oom else Visibility.STARVED if done.timed_out else Visibility.CRASHED
        kept = 0.0 if not self.usual or blame.ours else None
        return found.get(0) or Raw({"family": family}, fault=_why(done, seconds, self.limits), blame=blame, kept=kept)

    async def _taken(self, box: Box, done: Completed, count: int) -> dict[int, Raw]:
        answers = dict(filter(None, (_answer(line, count) for line in done.stdout.splitlines())))
        if not any(plain.get("files") for plain in answers.values()):
            return {number: Raw(plain) for number, plain in answers.items()}
        # Nothing of the job may go on writing while its artefacts are read.
        await box.clear()
        found = await asyncio.to_thread(_scan, box.output_path, self.store.blobs)
        return {number: Raw(plain, *_own(found, number)) for number, plain in answers.items()}


def _scan(path: Path, blobs: Sink) -> Manifest:
    # The box gives a descriptor's way below /proc, which is itself a link.
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return scan(folder, blobs, TAKEN).manifest
    finally:
        os.close(folder)


_FOLDER = str(Path(__file__).parent)
COMMAND = [
    sys.executable,
    "-I",
    "-B",
    "-c",
    f"import sys; sys.path.insert(0, {_FOLDER!r}); from in_box.main import main; main()",
]


def order(entries: Sequence[Entry], *, light: bool, plain: bool = False, query: str = "") -> bytes:
    """What `in_box.main` reads."""
    files = [[number, entry.path] for number, entry in enumerate(entries)]
    return json.dumps(
        {"in": IN, "out": OUT, "work": WORK, "files": files, "light": light, "plain": plain, "query": query}
    ).encode()


def _answer(line: bytes, count: int) -> tuple[int, dict[str, Any]] | None:
    """A line of the converter's; None for anything else."""
    try:
        number, plain = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return None
    sound = isinstance(number, int) and 0 <= number < count and isinstance(plain, dict)
    return (number, plain) if sound else None


def _own(manifest: Manifest, number: int) -> tuple[dict[str, str], Manifest]:
    """A file's artefacts: blobs by path below the output folder, and what it unpacked, as a manifest."""
    start, unpacked = f"{number}/", f"{number}/unpacked/"
    files = {e.path: e.blob for e in manifest.files if e.path.startswith(start) and e.blob is not None}
    inner = [e.replaced(path=e.path.removeprefix(unpacked)) for e in manifest.entries if e.path.startswith(unpacked)]
    return files, Manifest(entries=tuple(sorted(inner, key=lambda e: e.path)))


def _why(done: Completed, seconds: float, limits: BoxLimits) -> str:
    if done.oom:
        return f"showing it needs more than {limits.memory >> 20:,} MiB of memory"
    if done.timed_out:
        return f"converting it did not end within {seconds:g} seconds"
    if done.truncated:
        return "its converter printed without end"
    tail = done.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    said = tail[-1][:300] if tail else f"exit code {done.returncode}"
    # A program that memory is denied to may see that itself.
    return f"its converter failed: {said}"
