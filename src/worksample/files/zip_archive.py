"""Unpacking of an untrusted ZIP archive."""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from worksample.errors import CaptureError, Cause
from worksample.records import path_fault, quote_path

from .copy_file import CHUNK
from .folder_scanner import DEFAULT_LIMITS, ScanLimits

_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, struct.error, ValueError)
_FOLDER = "zip the files anew, or hand in their folder"
_END = b"PK\x05\x06"
_END64 = b"PK\x06\x06"
_UTF8 = 0x800
"""Flag of a name in UTF-8. Python decodes any other name as code page 437."""


@dataclass(frozen=True, slots=True)
class _Member:
    info: zipfile.ZipInfo
    path: bytes


def unzip(archive: Path, target: Path, limits: ScanLimits = DEFAULT_LIMITS) -> None:
    """Unpack `archive` as the new folder `target`, completely or not at all.

    Raises CaptureError for files that are not ZIP archives, encrypted or damaged members, absolute paths, `..`,
    backslashes and NULs, links and devices, two members at one path or one below another, and for more entries or
    unpacked bytes than `limits` allow (counted while unpacking, whatever the headers claim).
    """
    where = str(archive)
    if target.exists() and any(target.iterdir()):
        raise CaptureError(
            "the folder to unpack into is not empty", where=str(target), next="name a new or empty folder"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".unzip-", dir=target.parent))
    try:
        with archive.open("rb") as raw:
            _bound_directory(raw, limits, where)
            with zipfile.ZipFile(raw) as z:
                _unpack(z, _members(z, limits, where), draft, limits, where)
        draft.chmod(0o755)
        draft.rename(target)
    except _BROKEN as e:
        raise CaptureError(f"the archive is damaged, or not a ZIP: {e}", where=where, next=_FOLDER) from e
    except RuntimeError as e:
        raise CaptureError(f"the archive cannot be read: {e}", where=where, next=_FOLDER) from e
    except OSError as e:
        raise CaptureError(
            f"the archive cannot be unpacked: {e.strerror or e}", where=where,
            next="free some space (df -h), then run the same command again",
        ) from e  # fmt: skip
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _bound_directory(raw: BinaryIO, limits: ScanLimits, where: str) -> None:
    """Reject an archive whose table of contents alone would fill the memory."""
    size = raw.seek(0, os.SEEK_END)
    raw.seek(max(0, size - (1 << 16) - 200))
    tail = raw.read()
    claims = [0]
    at = tail.rfind(_END)
    if at >= 0 and len(tail) >= at + 16:
        claims.append(struct.unpack_from("<L", tail, at + 12)[0])
    at = tail.rfind(_END64)
    if at >= 0 and len(tail) >= at + 48:
        claims.append(struct.unpack_from("<Q", tail, at + 40)[0])
    if min(max(c for c in claims if c != 0xFFFFFFFF), size) > limits.files * (46 + limits.path + 128):
        raise _too_many(limits, where)


def _too_many(limits: ScanLimits, where: str) -> CaptureError:
    return CaptureError(
        f"the archive has more than {limits.files:,} entries",
        where=where,
        cause=Cause.CAPTURE_TOO_MANY,
        next="hand in fewer files",
    )


def _members(z: zipfile.ZipFile, limits: ScanLimits, where: str) -> list[_Member]:
    infos = z.infolist()
    if len(infos) > limits.files:
        raise _too_many(limits, where)
    members: dict[bytes, _Member] = {}
    for info in infos:
        path = _path(info, limits, where)
        if path in members:
            raise CaptureError(
                f"the archive has two entries with the path {quote_path(path)}", where=where, next=_FOLDER
            )
        members[path] = _Member(info, path)
    files = {m.path for m in members.values() if not m.info.is_dir()}
    for path in members:
        steps = path.split(b"/")
        if any(b"/".join(steps[:i]) in files for i in range(1, len(steps))):
            raise CaptureError(
                f"an entry of the archive has a file as its folder: {quote_path(path)}", where=where, next=_FOLDER
            )
    return list(members.values())


def _path(info: zipfile.ZipInfo, limits: ScanLimits, where: str) -> bytes:
    shown = ascii(info.orig_filename[:200])
    mode = info.external_attr >> 16
    if info.flag_bits & 1:
        raise CaptureError(f"{shown} is encrypted", where=where, next=_FOLDER)
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise CaptureError(f"{shown} is a link or a device", where=where, next=_FOLDER)
    if "\\" in info.orig_filename or "\0" in info.orig_filename:
        raise CaptureError(f"{shown} has a backslash or NUL in its name", where=where, next=_FOLDER)
    path = _name(info).removesuffix(b"/")
    fault = path_fault(quote_path(path))
    steps = path.split(b"/")
    if fault:
        raise CaptureError(f"{shown}: {fault}", where=where, next=_FOLDER)
    if len(steps) > limits.depth or len(path) > limits.path or max(map(len, steps)) > limits.name:
        raise CaptureError(
            f"the path of {shown} has too many folders or too long a name",
            where=where,
            cause=Cause.CAPTURE_TOO_MANY,
            next="hand it in under a shorter path",
        )
    return path


def _name(info: zipfile.ZipInfo) -> bytes:
    """Return a member's name, decoded as UTF-8 if possible, because macOS and others do not set the flag for it."""
    if not info.flag_bits & _UTF8:
        try:
            return info.orig_filename.encode("cp437").decode("utf-8").encode()
        except UnicodeError:
            pass
    return info.orig_filename.encode("utf-8", "surrogateescape")


def _unpack(z: zipfile.ZipFile, members: list[_Member], draft: Path, limits: ScanLimits, where: str) -> None:
    left = limits.bytes
    for member in members:
        place = draft / os.fsdecode(member.path)
        if member.info.is_dir():
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        with z.open(member.info) as packed, place.open("xb") as out:
            while chunk := packed.read(CHUNK):
                left -= len(chunk)
                if left < 0:
                    text = f"the archive unpacks to more than {limits.bytes:,} bytes"
                    raise CaptureError(text, where=where, cause=Cause.CAPTURE_TOO_LARGE, next="hand in less")
                out.write(chunk)
        place.chmod(0o755 if member.info.external_attr >> 16 & stat.S_IXUSR else 0o644)
