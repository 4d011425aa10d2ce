"""Blind copies: files without traces of their maker. Evaluators may download these copies.

Everything that can be seen or heard stays unchanged, byte for byte if the format allows it. `meta.leaks` names the
traces that could not be removed. The view is shown even if there are leaks.
"""

from __future__ import annotations

import filecmp
import importlib
import struct
import zipfile
import zlib
from pathlib import Path
from xml.parsers.expat import ExpatError

from .conversion_job import ConversionJob, ConverterFault, MissingConverter, Unreadable, ViewDraft

LARGEST = 192 << 20
"""Maximum bytes of a file that is processed in memory. Several copies of the file are in memory at once."""
LARGEST_FILM = 600 << 20
"""Maximum bytes of a film for which a blind copy is made. Films are rewritten on the disk."""
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
"""Family of formats -> module of this package whose function `scrub(job, leaks)` returns the blind copy, or None if
nothing had to be removed.
"""
KEEPS = {
    "deck": "media in the deck keep what they say of their makers",
    "dwg": "a drawing may name who saved it last",
    "midi": "a song may name who wrote it",
    "skp": "a model may name who made it",
    "ipt": "a part may name who made it",
    "rvt": "a model may name who made it",
    "ole": "a compound file may name who made it",
}
"""Family of formats that cannot be rewritten -> description of the traces that remain."""
FAULTS = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OSError, EOFError, RecursionError, MemoryError,
    struct.error, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, ExpatError, NotImplementedError, RuntimeError,
)  # fmt: skip
"""Exceptions that parsers raise for malformed files."""


def add(job: ConversionJob, made: ViewDraft) -> None:
    """Add the artefact `blind` to a view, remove traces of the maker from the converter's artefacts, and record
    leaks.
    """
    leaks: list[str] = []
    if job.family in SCRUBBERS:
        _run_guarded(lambda: _copy(job, made, leaks), leaks)
    elif job.family in KEEPS:
        leaks.append(KEEPS[job.family])
    if "pdf" in made.files:
        # LibreOffice copies the document's properties into the PDF.
        _run_guarded(lambda: _print(job.out.parent / made.files["pdf"], leaks), leaks)
    if leaks:
        made.meta["leaks"] = list(dict.fromkeys(leaks))[:20]


def _run_guarded(work: object, leaks: list[str]) -> None:
    try:
        work()  # type: ignore[operator]
    except (Unreadable, ConverterFault, MissingConverter, *FAULTS) as e:
        # A parser's message may contain the names.
        leaks.append(f"what it says of its maker could not be removed ({type(e).__name__})")


def _copy(job: ConversionJob, made: ViewDraft, leaks: list[str]) -> None:
    if job.plain or job.size > (LARGEST_FILM if job.family == "media" else LARGEST):
        leaks.append("what it says of its maker was not removed: the file is too large, or broke what reads it")
        return
    data = importlib.import_module(f".{SCRUBBERS[job.family]}", __package__).scrub(job, leaks)
    if isinstance(data, bytes) and data != job.file.read_bytes():
        made.files["blind"] = job.write_artefact("blind.bin", data)
    elif isinstance(data, Path):
        if filecmp.cmp(data, job.file, shallow=False):
            data.unlink()
        else:
            made.files["blind"] = job.output_path(data)


def _print(path: Path, leaks: list[str]) -> None:
    from .blind_pdf import scrub_pdf

    path.write_bytes(scrub_pdf(path, leaks))
