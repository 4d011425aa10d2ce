"""Blind copies of sound and film. Tags are removed or overwritten; the streams stay. Files in other containers than
those handled here are copied to a new container (remuxed).
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

from .blind_mp4 import film
from .conversion_job import ConversionJob, Unreadable, program, run
from .media import SAFE

LARGEST = 256 << 20
_REMUXED = {
    b"OggS": "ogg", b"\x1a\x45\xdf\xa3": "matroska", b"\x30\x26\xb2\x75": "asf", b"FLV\x01": "flv",
}  # fmt: skip


def scrub(job: ConversionJob, leaks: list[str]) -> bytes | Path | None:
    head = job.head(512)
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide"):
        target = job.out / "blind.film"
        shutil.copyfile(job.file, target)
        try:
            film(target)
        except (struct.error, ValueError):
            target.unlink()
            raise
        return target
    strip = _simple(head)
    if strip is not None:
        if job.size > LARGEST:
            leaks.append("the sound is too large for its tags to be removed")
            return None
        return strip(job.file.read_bytes())
    box = next((name for magic, name in _REMUXED.items() if head.startswith(magic)), None)
    if box is None and head.startswith(b"RIFF") and head[8:12] == b"AVI ":
        box = "avi"
    if box == "matroska" and b"webm" in head[:64]:
        box = "webm"
    if box is None:
        leaks.append("tags of this kind of sound or film are not removed; it may name its maker")
        return None
    return _remux(job, box)


def _simple(head: bytes) -> Callable[[bytes], bytes] | None:
    if head.startswith(b"fLaC"):
        return flac
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return wave
    if head.startswith(b"FORM") and head[8:12] in (b"AIFF", b"AIFC"):
        return aiff
    if head.startswith(b"ID3") or (head[:1] == b"\xff" and head[1] & 0xE0 == 0xE0):
        return frames
    return None


def frames(data: bytes) -> bytes:
    """Remove from MP3 and AAC the ID3 tags at both ends, and APE and Lyrics3 tags. FLAC data after an ID3 tag is
    handled as FLAC.
    """
    start, end = 0, len(data)
    while data.startswith(b"ID3", start) and start + 10 < end:
        size = 0
        for byte in data[start + 6 : start + 10]:
            size = size << 7 | byte & 0x7F
        start += 10 + size + (10 if data[start + 5] & 0x10 else 0)
    while (shorter := _tag_before(data, end)) != end and shorter > start:
        end = shorter
    if data.startswith(b"fLaC", start):
        return flac(data[start:end])
    return data[start:end]


def _tag_before(data: bytes, end: int) -> int:
    """Return the start of the tag that ends at `end`, or `end` if no tag ends there."""
    if data.startswith(b"TAG+", max(end - 355, 0)):
        return end - 355
    if data.startswith(b"TAG", max(end - 128, 0)):
        return end - 128
    if data.endswith(b"LYRICS200", 0, end) and data[end - 15 : end - 9].isdigit():
        return end - 15 - int(data[end - 15 : end - 9])
    if data.startswith(b"APETAGEX", max(end - 32, 0)):
        size, _, flags = struct.unpack("<III", data[end - 20 : end - 8])
        return end - int(size) - (32 if flags & 0x80000000 else 0)
    return end


def flac(data: bytes) -> bytes:
    """Return a FLAC file with only its stream info, its seek table, its sound and an empty comment block, which FLAC
    requires.
    """
    out, at, last = [], 4, False
    while not last:
        last, kind = bool(data[at] & 0x80), data[at] & 0x7F
        size = int.from_bytes(data[at + 1 : at + 4], "big")
        if kind in (0, 3):
            out.append((kind, data[at + 4 : at + 4 + size]))
        at += 4 + size
    out.append((4, struct.pack("<II", 0, 0)))
    blocks = [
        bytes([kind | (0x80 if n == len(out) - 1 else 0)]) + len(body).to_bytes(3, "big") + body
        for n, (kind, body) in enumerate(out)
    ]
    return b"fLaC" + b"".join(blocks) + data[at:]


_WAVE = {b"fmt ", b"data", b"fact", b"cue ", b"smpl", b"inst", b"PEAK", b"plst", b"wavl", b"slnt", b"ds64"}


def wave(data: bytes) -> bytes:
    return _chunks(data, "<", _WAVE)


def aiff(data: bytes) -> bytes:
    return _chunks(data, ">", {b"COMM", b"SSND", b"FVER", b"MARK", b"INST"})


def _chunks(data: bytes, order: str, kept: set[bytes]) -> bytes:
    out, at = [data[8:12]], 12
    while at + 8 <= len(data):
        kind, size = struct.unpack(order + "4sI", data[at : at + 8])
        # Interrupted recordings and streams have no length.
        end = min(at + 8 + size + (size & 1), len(data))
        if kind in kept:
            out.append(data[at:end])
        at = end
    whole = b"".join(out)
    return data[:4] + struct.pack(order + "I", min(len(whole), 0xFFFFFFFF)) + whole


def _remux(job: ConversionJob, box: str) -> Path:
    """Copy the packets of a recording into a new container of the same kind. Raises Unreadable if the recording cannot
    be copied; MissingConverter if the program for this is missing.
    """
    target = job.out / f"blind.{box}"
    words = [program("ffmpeg", "ffmpeg"), "-v", "error", "-nostdin", *SAFE, "-i", f"file:{job.file}"]
    # Covers, data tracks and attachments are left out; capital V is film without covers.
    words += ["-map", "0:V?", "-map", "0:a?", "-map", "0:s?", "-c", "copy", "-map_metadata", "-1"]
    words += ["-map_metadata:s", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags", "+bitexact"]
    ran = run([*words, "-f", box, str(target)], seconds=40)
    if not ran.ok or not target.exists() or target.stat().st_size == 0:
        target.unlink(missing_ok=True)
        raise Unreadable("the file cannot be copied without its metadata")
    return target
