"""Conversion of files in a box: the input of the converter, its time limits and its output."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.box import Box, BoxConfig, BoxLimits, Completed, FairTimeout, Mount
from worksample.errors import SandboxError, SandboxUnavailable
from worksample.files import ScanLimits, Sink, scan
from worksample.models.judge_exhibit import Visibility
from worksample.records import Entry, Manifest
from worksample.sandboxes import open_box
from worksample.sandboxes.python_toolbox import platform_python
from worksample.store import put_canonical

if TYPE_CHECKING:
    from worksample.store import Store

IN, OUT, WORK = "/task/in", "/task/output", "/task/scratch"
LIMITS = BoxLimits(memory=2 << 30, processes=256, disk=1 << 30, files=30_000, output=16 << 20)
TAKEN = ScanLimits(files=20_000, bytes=1 << 30)
"""Limits of the artefacts that the conversion of one file may produce."""
SECONDS = {"media": 600.0, "workbook": 300.0, "office": 180.0}
"""Family of formats -> maximum seconds of a conversion. Time in which the conversion waits for a processor does not
count (FairTimeout).
"""
USUAL_SECONDS = 90.0
_COLOURED = ("text", "markdown")
"""Families of formats that are shown without syntax colours if the colouring takes too long."""
BATCH = 100
"""Maximum number of light files that are converted in one process."""
BATCH_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ConversionResult:
    """Result of the conversion of one file. `plain` is the unchecked answer of the converter, or None without an
    answer.

    `files` maps paths below the output folder to blobs. `fault` says why there is no view, and `blame` says whose fault
    that is. `kept` is the number of seconds for which this result is valid, or None without a limit.
    """

    plain: dict[str, Any] | None = None
    files: dict[str, str] = field(default_factory=dict)
    manifest: Manifest = field(default_factory=Manifest)
    fault: str = ""
    blame: Visibility = Visibility.CRASHED
    again: bool = True
    """Whether a second attempt may succeed: in a new box, or without syntax colours and blind copy."""
    lost: bool = False
    """Whether the box was lost although the file is not known to be the reason."""
    kept: float | None = None

    @property
    def family(self) -> str:
        return str((self.plain or {}).get("family", ""))


@dataclass(frozen=True, slots=True)
class Converter:
    """Converter of the files of one manifest, with the boxes in which it converts them."""

    store: Store
    manifest: Manifest
    limits: BoxLimits = LIMITS
    seconds: float | None = None
    """Maximum seconds of every conversion. None stands for the usual limit of each family of formats."""
    backstop: float = 0.0
    """Maximum wall-clock seconds of a conversion that gets too little processor time; 0 for the default."""
    background: bool = False
    """Whether nobody waits for these views, so that other work gets the processors first."""
    boxes: dict[str, Box] = field(default_factory=dict, compare=False)
    """Quoted path of a file -> the box that converts this file now."""
    urgent: set[str] = field(default_factory=set, compare=False)
    """Quoted paths of the files for whose views somebody waits."""

    @property
    def has_usual_limits(self) -> bool:
        """Return whether the conversions have the usual limits. A failure under other limits proves nothing about the
        file.
        """
        return self.limits == LIMITS and self.seconds is None

    async def hurry(self, path: str) -> None:
        """Give the box of a file its full processor share, because somebody now waits for the view of this file."""
        self.urgent.add(path)
        box = self.boxes.get(path)
        if box is not None and self.background:
            with suppress(SandboxError):  # the box has ended already
                await box.hurry()

    def config(self) -> BoxConfig:
        """Return the configuration of a converter's box, and provide the manifest's folder for it. Raises the errors of
        `Store.folder`.
        """
        digest = put_canonical(self.store.blobs, self.manifest.plain())
        folder = str(self.store.folder(digest))
        return BoxConfig(
            mounts=(Mount(folder, IN),),
            output=OUT,
            scratch=WORK,
            env=(("PYTHONDONTWRITEBYTECODE", "1"), ("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1")),
            limits=self.limits,
            python="platform",
            label="view",
            background=self.background,
        )

    async def convert_light_files(self, config: BoxConfig, entries: Sequence[Entry]) -> dict[int, ConversionResult]:
        """Convert many files in one process. The result of a light file is its view; the result of any other file is
        only its family of formats.

        If a file crashes the process, this file and all files after it are missing from the result.
        """
        try:
            async with open_box(config) as box, self._shown_in(box, entries):
                limit = FairTimeout(BATCH_SECONDS)
                done = await box.run(COMMAND, input=job_message(entries, light=True), timeout=limit)
                return await self._read_results(box, done, len(entries))
        except SandboxUnavailable:
            raise
        except SandboxError:
            return {}

    @asynccontextmanager
    async def _shown_in(self, box: Box, entries: Sequence[Entry]) -> AsyncIterator[None]:
        mine = dict.fromkeys((entry.path for entry in entries), box)
        self.boxes.update(mine)
        try:
            if self.background and not self.urgent.isdisjoint(mine):
                await box.hurry()
            yield
        finally:
            for path in mine:
                self.boxes.pop(path, None)

    async def convert_file(
        self, config: BoxConfig, entry: Entry, family: str = "", *, plain: bool = False
    ) -> ConversionResult:
        """Convert one file in a box of its own. The content of the file raises no error."""
        seconds = self.seconds or SECONDS.get(family, USUAL_SECONDS)
        try:
            async with open_box(config) as box, self._shown_in(box, [entry]):
                limit = FairTimeout(seconds, self.backstop)
                done = await box.run(COMMAND, input=job_message([entry], light=False, plain=plain), timeout=limit)
                found = await self._read_results(box, done, 1)
        except SandboxUnavailable:
            raise
        except SandboxError as error:
            return ConversionResult(fault=f"its box was lost: {error.what}", kept=0.0, lost=True)
        blame = _blame(done)
        kept = 0.0 if not self.has_usual_limits or blame.is_our_fault else None
        again = not done.timed_out or (not done.starved and family in _COLOURED)
        return found.get(0) or ConversionResult(
            {"family": family}, fault=_explain_failure(done, seconds, self.limits), blame=blame, again=again, kept=kept
        )

    async def _read_results(self, box: Box, done: Completed, count: int) -> dict[int, ConversionResult]:
        answers = dict(filter(None, (_answer(line, count) for line in done.stdout.splitlines())))
        if not any(plain.get("files") for plain in answers.values()):
            return {number: ConversionResult(plain) for number, plain in answers.items()}
        # No process of the job may write while its artefacts are read.
        await box.clear()
        found = await asyncio.to_thread(_scan, box.output_path, self.store.blobs)
        return {number: ConversionResult(plain, *_store_artefacts(found, number)) for number, plain in answers.items()}


def _scan(path: Path, blobs: Sink) -> Manifest:
    # The box returns a path below /proc, which is a link.
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return scan(folder, blobs, TAKEN).manifest
    finally:
        os.close(folder)


_FOLDER = str(Path(__file__).resolve().parent)
COMMAND = [
    platform_python(),
    "-I",
    "-B",
    "-c",
    f"import sys; sys.path.insert(0, {_FOLDER!r}); from in_box.main import main; main()",
]


def job_message(entries: Sequence[Entry], *, light: bool, plain: bool = False, query: str = "") -> bytes:
    """Return the message that describes a job for `in_box.main`."""
    files = [[number, entry.path] for number, entry in enumerate(entries)]
    return json.dumps(
        {"in": IN, "out": OUT, "work": WORK, "files": files, "light": light, "plain": plain, "query": query}
    ).encode()


def _answer(line: bytes, count: int) -> tuple[int, dict[str, Any]] | None:
    """Return the number of the file and the answer in a line of the converter's output. Return None if the line is
    malformed.
    """
    try:
        number, plain = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return None
    sound = isinstance(number, int) and 0 <= number < count and isinstance(plain, dict)
    return (number, plain) if sound else None


def _store_artefacts(manifest: Manifest, number: int) -> tuple[dict[str, str], Manifest]:
    """Return the artefacts of a file as blobs by path below the output folder, and the manifest of the files that the
    converter unpacked.
    """
    start, unpacked = f"{number}/", f"{number}/unpacked/"
    files = {e.path: e.blob for e in manifest.files if e.path.startswith(start) and e.blob is not None}
    inner = [e.replaced(path=e.path.removeprefix(unpacked)) for e in manifest.entries if e.path.startswith(unpacked)]
    return files, Manifest(entries=tuple(sorted(inner, key=lambda e: e.path)))


def _blame(done: Completed) -> Visibility:
    """Return who is to blame if a process gave no answer. The file is blamed only if the process used more than any
    file is allowed.
    """
    if done.starved:
        return Visibility.STARVED
    return Visibility.FILE if done.oom or done.timed_out or done.truncated else Visibility.CRASHED


def _explain_failure(done: Completed, seconds: float, limits: BoxLimits) -> str:
    if done.oom:
        return f"showing the file needs more than {limits.memory >> 20:,} MiB of memory"
    if done.starved:
        return f"the server was too busy: converting the file got {done.counted:.1f} s of processor time in "
        f"{done.seconds:.0f} s"
    if done.timed_out:
        return f"converting the file did not end within {seconds:g} seconds"
    if done.truncated:
        return "the converter printed too much"
    tail = done.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    said = tail[-1][:300] if tail else f"exit code {done.returncode}"
    # A program may detect and report a lack of memory itself.
    return f"the converter failed: {said}"
