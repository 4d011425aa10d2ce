"""Word documents without their comments, for LibreOffice (7.4) loses the footnotes of one that has both."""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path

from .job import ConversionJob

_COMMENT = re.compile(rb"<w:commentReference\b[^>]*/>")
_TEXT = "word/document.xml"
MOST = 256 << 20
"""Bytes of all parts, unpacked; a document beyond is printed as it is."""


def without_comments(job: ConversionJob, source: Path, most: int = MOST) -> Path:
    """A copy whose text refers to no comment, which nobody sees in print; the source itself where there is nothing to
    do, or where it is no such document.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            parts = archive.infolist()
            names = {part.filename for part in parts}
            if not {_TEXT, "word/comments.xml"} <= names or sum(part.file_size for part in parts) > most:
                return source
            text, found = _COMMENT.subn(b"", archive.read(_TEXT))
            if not found:
                return source
            copy = job.work / f"printed{source.suffix}"
            with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
                for part in parts:
                    made.writestr(part.filename, text if part.filename == _TEXT else archive.read(part))
            return copy
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError):
        # Damaged, protected, or packed in a way of its own: LibreOffice says what of it can be read.
        return source
