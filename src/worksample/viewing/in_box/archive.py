"""Converter of archives: shows the content as a tree. If it is safe, the files are unpacked and shown by the converters
of their formats.
"""

from __future__ import annotations

import posixpath
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from .conversion_job import ConversionJob, Unreadable, ViewDraft, program, run

LISTED = 20_000
FILES = 5_000
BYTES = 256 << 20
"""Maximum bytes that are unpacked from an archive."""
_FAULTS = (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError, zlib.error, ValueError, RuntimeError, KeyError)


@dataclass(frozen=True, slots=True)
class Member:
    path: str
    size: int
    packed: int | None = None
    kind: str = "file"
    note: str = ""


def convert(job: ConversionJob) -> ViewDraft:
    made = ViewDraft("archive")
    head = job.head(8)
    if head.startswith((b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")):
        return _extract_with_bsdtar(job, made)
    walk = _zip if zipfile.is_zipfile(job.file) else _tar
    members: list[Member] = []
    left, files, said = BYTES, FILES, ""
    try:
        for member, content in walk(job):
            if len(members) >= LISTED:
                said = f"only the first {LISTED:,} entries are listed"
                break
            members.append(member)
            if content is None or files <= 0 or said:
                continue
            taken = _unpack(job, member.path, content, left)
            if taken is None:
                said = "the archive holds more than is unpacked; the rest is only listed"
                continue
            left, files = left - taken, files - 1
    except _FAULTS as e:
        if not members:
            raise Unreadable(f"the archive is damaged: {str(e)[:200]}") from e
        said = f"the archive is damaged after {len(members)} entries: {str(e)[:200]}"
    return _member_note(
        job, made, members, said or ("" if files > 0 else f"only the first {FILES:,} files are unpacked")
    )


def _member_note(job: ConversionJob, made: ViewDraft, members: list[Member], said: str) -> ViewDraft:
    rows = [[m.path, m.kind, m.size, m.packed, m.note] for m in members]
    made.files["tree"] = job.keep_json("tree.json", rows)
    made.meta |= {"entries": len(members), "bytes": sum(m.size for m in members), "size": job.size}
    made.meta["encrypted"] = sum(m.note == "encrypted" for m in members)
    made.meta["unpacked"] = (job.out / "unpacked").is_dir()
    if made.meta["encrypted"]:
        said = "; ".join(filter(None, (f"{made.meta['encrypted']} of its files are protected by a password", said)))
        made.inspectable = made.meta["encrypted"] < len([m for m in members if m.kind == "file"])
    made.problem = said
    return made


def _safe(path: str) -> str | None:
    """Return the path of an archive's member below the folder, or None if the path would lead outside."""
    clean = posixpath.normpath(path.replace("\\", "/"))
    steps = clean.split("/")
    unsound = clean.startswith("/") or ".." in steps or "\0" in clean or clean in (".", "") or len(steps) > 40
    return None if unsound or any(len(s.encode("utf-8", "replace")) > 200 for s in steps) else clean


def _unpack(job: ConversionJob, path: str, content: IO[bytes], left: int) -> int | None:
    """Write one member of an archive to the folder. Return its number of bytes, 0 if its name is invalid or a
    duplicate, or None if it has more than `left` bytes.
    """
    clean = _safe(path)
    if clean is None:
        return 0
    target = job.out / "unpacked" / clean
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        out = target.open("xb")
    except (FileExistsError, NotADirectoryError, UnicodeEncodeError):
        return 0
    taken = 0
    with out, content:
        while data := content.read(1 << 20):
            taken += len(data)
            if taken > left:
                break
            out.write(data)
    if taken > left:
        target.unlink()
        return None
    return taken


def _zip(job: ConversionJob) -> Iterator[tuple[Member, IO[bytes] | None]]:
    with zipfile.ZipFile(job.file) as archive:
        for info in archive.infolist():
            locked = bool(info.flag_bits & 1)
            link = stat.S_ISLNK(info.external_attr >> 16)
            kind = "folder" if info.is_dir() else "link" if link else "file"
            member = Member(info.filename, info.file_size, info.compress_size, kind, "encrypted" if locked else "")
            readable = kind == "file" and not locked and info.file_size <= BYTES
            yield member, archive.open(info) if readable else None


def _tar(job: ConversionJob) -> Iterator[tuple[Member, IO[bytes] | None]]:
    try:
        archive = tarfile.open(job.file, "r|*", errors="replace")  # noqa: SIM115 - closed below
    except tarfile.ReadError:
        yield from _read_compressed_file(job)
        return
    with archive:
        for info in archive:
            kind = "file" if info.isfile() else "folder" if info.isdir() else "link" if info.issym() else "other"
            yield Member(info.name, info.size, None, kind), archive.extractfile(info) if info.isfile() else None


def _read_compressed_file(job: ConversionJob) -> Iterator[tuple[Member, IO[bytes] | None]]:
    """Yield the content of one compressed file that is no archive."""
    import bz2
    import gzip
    import lzma

    opened: Any = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}.get(job.head(2))
    if opened is None:
        raise Unreadable("the archive is damaged: its content cannot be listed")
    name = job.name.rsplit(".", 1)[0] or "content"
    with opened(job.file, "rb") as f:
        first = len(f.read(1))
    yield Member(name, first, job.size), opened(job.file, "rb")


def _extract_with_bsdtar(job: ConversionJob, made: ViewDraft) -> ViewDraft:
    """Unpack a 7z, RAR or zstd archive with bsdtar into a separate folder, then read the folder like any other
    archive.
    """
    bsdtar = program("bsdtar", "bsdtar")
    packed = job.work / "again.tar"
    ran = run([bsdtar, "-cf", str(packed), f"@{job.file}"], seconds=60, cwd=job.work)
    if not packed.exists() or packed.stat().st_size == 0:
        raise Unreadable(f"the archive cannot be read: {ran.err[:200]}")
    again = ConversionJob(packed, job.name, job.path, job.folder, job.out, job.work, job.size)
    members: list[Member] = []
    left = BYTES
    try:
        for member, content in _tar(again):
            members.append(member)
            if content is not None and len(members) <= FILES:
                left -= _unpack(job, member.path, content, left) or 0
    except _FAULTS:
        ran = run([bsdtar, "-tf", str(job.file)], seconds=30)
    made.by = "bsdtar"
    return _member_note(job, made, members, "" if ran.ok else f"damaged or protected: {ran.err[:200]}")
