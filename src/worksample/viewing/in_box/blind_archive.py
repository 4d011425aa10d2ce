"""Blind copies of ZIP archives. Traces of the maker are removed from each file. Of the archive's metadata, only names,
order and permissions remain.
"""

from __future__ import annotations

import importlib
import time
import zipfile
from pathlib import Path

from .archive import BYTES, FILES
from .conversion_job import ConversionJob, MissingConverter, Unreadable
from .format_detection import sniff

SECONDS = 30.0
"""Maximum processor seconds to make the blind copy of an archive."""
DEEPEST = 2
_REST = "files in the archive keep what they say of their makers until they are opened here"


def scrub(job: ConversionJob, leaks: list[str]) -> Path | None:
    if not zipfile.is_zipfile(job.file):
        leaks.append(_REST)
        return None
    target = job.out / "blind.zip"
    _rewrite(job, target, leaks, time.process_time() + SECONDS, DEEPEST)
    return target


def _rewrite(job: ConversionJob, target: Path, leaks: list[str], until: float, deep: int) -> None:
    """Write the blind copy of an archive. Raises RuntimeError if the archive is encrypted; BadZipFile if it is damaged;
    ValueError if it exceeds a limit.
    """
    with zipfile.ZipFile(job.file) as source, zipfile.ZipFile(target, "w") as made:
        infos = source.infolist()
        if len(infos) > FILES or sum(i.file_size for i in infos) > BYTES:
            target.unlink()
            raise ValueError("the archive holds more files or bytes than are unpacked")
        for number, info in enumerate(infos):
            fresh = zipfile.ZipInfo(info.filename)
            fresh.external_attr = info.external_attr
            fresh.compress_type = (
                zipfile.ZIP_STORED if info.compress_type == zipfile.ZIP_STORED else zipfile.ZIP_DEFLATED
            )
            data = source.read(info)
            if data and not info.is_dir():
                if time.process_time() > until:
                    leaks.append(_REST)
                else:
                    data = _member(job, number, info.filename, data, leaks, until, deep)
            made.writestr(fresh, data)


def _member(
    job: ConversionJob, number: int, name: str, data: bytes, leaks: list[str], until: float, deep: int
) -> bytes:
    """Return a file of the archive without traces of its maker. If that fails, return the unchanged file and add a
    leak.
    """
    from .blind_copy import FAULTS, KEEPS, SCRUBBERS

    folder = job.work / f"blind-{deep}-{number}"
    folder.mkdir()
    file = folder / "file"
    file.write_bytes(data)
    inner = ConversionJob(file, name.rsplit("/", 1)[-1], job.path, folder, folder, folder, len(data))
    try:
        inner.family = sniff(inner)
        if inner.family == "archive" and deep > 0 and zipfile.is_zipfile(file):
            _rewrite(inner, folder / "blind.zip", leaks, until, deep - 1)
            return (folder / "blind.zip").read_bytes()
        if inner.family in SCRUBBERS and inner.family != "archive":
            found = importlib.import_module(f".{SCRUBBERS[inner.family]}", __package__).scrub(inner, leaks)
            return found.read_bytes() if isinstance(found, Path) else found or data
        if inner.family in KEEPS or inner.family == "archive":
            leaks.append(_REST)
    except (Unreadable, MissingConverter, *FAULTS):
        leaks.append(_REST)
    return data
