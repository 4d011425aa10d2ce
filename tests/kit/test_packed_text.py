"""Texts that somebody packed or encoded are read, and bombs cost no more than a large file."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable

import pytest

from worksample.kit.packed_text import LIMIT, readable_texts

SECRET = "qmt_live_7fd2 für Änne"


def zipped(data: bytes, name: str = "a.txt") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def tarred(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def pdf(data: bytes) -> bytes:
    return b"%PDF-1.4\n1 0 obj <<>> stream\n" + zlib.compress(data) + b"endstream endobj"


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "utf-16 without a mark": lambda data: data.decode().encode("utf-16-le"),
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "tar": tarred,
    "tar in gzip": lambda data: gzip.compress(tarred(data)),
    "office document": lambda data: zipped(
        b"<w:p><w:t>qmt_live</w:t><w:t>_7fd2 f\xc3\xbcr \xc3\x84nne</w:t></w:p>", "a.xml"
    ),
    "pdf": pdf,
    "base64": lambda data: b"see " + base64.b64encode(data) + b" below",
    "base64 in lines": base64.encodebytes,
    "gzip in base64": lambda data: base64.b64encode(gzip.compress(data)),
    "hexadecimal": lambda data: data.hex(":").encode(),
    "backwards": lambda data: data.decode()[::-1].encode(),
    "behind a picture": lambda data: (
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4 + data.decode().encode("latin-1") + b"\x00\x01"
    ),
}


@pytest.mark.parametrize("way", PACKED)
def test_packed_text_is_found(way: str) -> None:
    assert any(SECRET in text for text in readable_texts(PACKED[way](SECRET.encode())))


@pytest.mark.parametrize("data", [b"", b"\x1f\x8bbroken", b"PK\x03\x04broken", b"BZh9", b"%PDF-stream\nx\nendstream"])
def test_broken_archive_raises_nothing(data: bytes) -> None:
    assert not any(SECRET in text for text in readable_texts(data))


def test_bomb_costs_no_more_than_a_large_file() -> None:
    bomb = zipped(gzip.compress(gzip.compress(b"0" * (300 << 20))))
    began = time.process_time()
    size = sum(len(text) for text in readable_texts(bomb))
    assert size <= 4 * LIMIT
    assert time.process_time() - began < 20
