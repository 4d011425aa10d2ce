"""Streams of a layer's bytes. They decompress the layer, hash it before and after decompression, and count its bytes
against a limit.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable
from typing import BinaryIO

from worksample.errors import ImageError

from .image_limits import AGAIN, SQUASH

PIECE = 1 << 20
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2"}
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
"""Exceptions that a truncated or damaged stream raises."""


class SizeBudget:
    """The part of a size limit that is not used yet."""

    def __init__(self, left: int, what: str) -> None:
        self.left, self._what, self._limit = left, what, left

    def take(self, amount: int) -> None:
        """Subtract an amount from the budget. Raises ImageError if less than this amount is left."""
        self.left -= amount
        if self.left < 0:
            raise ImageError(f"the image has more than {self._limit:,} {self._what}", where="image", next=SQUASH)


class HashingReader(io.RawIOBase):
    """A readable stream that hashes the bytes that are read through it. The function `told` is called with the size of
    every piece.
    """

    def __init__(self, source: BinaryIO, told: Callable[[int], object] = lambda size: None) -> None:
        self._source, self._told = source, told
        self._hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes and never more than PIECE bytes, to limit the memory of this process."""
        try:
            data = self._source.read(PIECE if size < 0 else min(size, PIECE))
        except _BROKEN as failure:
            raise ImageError(f"a layer is damaged: {failure}", where="image", next=AGAIN) from None
        self._told(len(data))
        self._hash.update(data)
        return data

    def drain(self) -> None:
        """Read the stream to its end, so that all its bytes are hashed."""
        while self.read(PIECE):
            pass

    @property
    def digest(self) -> str:
        """SHA-256 of all bytes read so far, in the notation of OCI images."""
        return f"sha256:{self._hash.hexdigest()}"


def decompress(source: HashingReader, head: bytes) -> BinaryIO:
    """Return the decompressed tar stream of a layer. The compression is recognised by `head`, the first bytes of the
    file. Raises ImageError for a compression that Python cannot unpack.
    """
    kind = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")
    if kind == "gzip":
        return gzip.GzipFile(fileobj=source, mode="rb")  # type: ignore[return-value]
    if kind == "xz":
        return lzma.LZMAFile(source, "rb")  # type: ignore[return-value,arg-type]
    if kind:
        raise ImageError(
            f"a layer is compressed with {kind}, which cannot be unpacked here",
            where="image",
            next="skopeo copy --dest-compress-format gzip --dest-force-compress-format oci:OLD oci:NEW",
        )
    return source  # type: ignore[return-value]
