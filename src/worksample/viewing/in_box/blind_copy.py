"""A copy of the file that does not say who made it: evaluators judge blindly, and may still load the original.

What is seen and heard stays as it is, to the byte where the format allows it. Where something cannot be removed,
`meta.leaks` says so; the view itself is never lost for that.
"""

from __future__ import annotations

import filecmp
import importlib
import struct
import zipfile
import zlib
from pathlib import Path
from xml.parsers.expat import ExpatError

from .conversion_job import ConversionJob, ConverterFault, Missing, Unreadable, ViewDraft

LARGEST = 192 << 20
"""Bytes of a file that is held in memory, several times over."""
LARGEST_FILM = 600 << 20
"""Those are rewritten on the disk."""
SCRUBBERS = {
    "pdf": "blind_pdf",
    "office": "blind_office",
    "workbook": "blind_office",
    "image": "blind_picture",
    "raster": "blind_picture",
    "psd": "blind_picture",
    "svg": "blind_markup",
    "site": "blind_markup",
    "notebook": "blind_notebook",
    "media": "blind_media",
    "model": "blind_model",
    "step": "blind_model",
    "ifc": "blind_model",
    "dxf": "blind_model",
    "archive": "blind_archive",
}
"""Family -> module of this package whose `scrub(job, leaks)` gives the copy; None where nothing is to do."""
KEEPS = {
    "deck": "media in the deck keep what they say of their makers",
    "dwg": "a drawing may name who saved it last",
    "midi": "a song may name who wrote it",
    "skp": "a model may name who made it",
    "ipt": "a part may name who made it",
    "rvt": "a model may name who made it",
    "ole": "a compound file may name who made it",
}
"""Families that nothing here can rewrite, and what that means."""
FAULTS = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OSError, EOFError, RecursionError, MemoryError,
    struct.error, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, ExpatError, NotImplementedError, RuntimeError,
)  # fmt: skip
"""What parsers raise for hostile files."""


def add(job: ConversionJob, made: ViewDraft) -> None:
    """Add the artefact `blind`, make the converter's own artefacts blind, and note leaks."""
    leaks: list[str] = []
    if job.family in SCRUBBERS:
        _guarded(lambda: _copy(job, made, leaks), leaks)
    elif job.family in KEEPS:
        leaks.append(KEEPS[job.family])
    if "pdf" in made.files:
        # The printing program copies the document's properties into its print.
        _guarded(lambda: _print(job.out.parent / made.files["pdf"], leaks), leaks)
    if leaks:
        made.meta["leaks"] = list(dict.fromkeys(leaks))[:20]


def _guarded(work: object, leaks: list[str]) -> None:
    try:
        work()  # type: ignore[operator]
    except (Unreadable, ConverterFault, Missing, *FAULTS) as e:
        # The words of a parser may hold the very names.
        leaks.append(f"what it says of its maker could not be removed ({type(e).__name__})")


def _copy(job: ConversionJob, made: ViewDraft, leaks: list[str]) -> None:
    if job.plain or job.size > (LARGEST_FILM if job.family == "media" else LARGEST):
        leaks.append("what it says of its maker was not removed: the file is too large, or broke what reads it")
        return
    data = importlib.import_module(f".{SCRUBBERS[job.family]}", __package__).scrub(job, leaks)
    if isinstance(data, bytes) and data != job.file.read_bytes():
        made.files["blind"] = job.keep("blind.bin", data)
    elif isinstance(data, Path):
        if filecmp.cmp(data, job.file, shallow=False):
            data.unlink()
        else:
            made.files["blind"] = job.made(data)


def _print(path: Path, leaks: list[str]) -> None:
    from .blind_pdf import scrubbed

    path.write_bytes(scrubbed(path, leaks))
