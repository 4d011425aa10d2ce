"""Pictures within texts: base64 in flat OpenDocument files, SVG and HTML."""

from __future__ import annotations

import base64
import binascii
import re

from .blind_picture import stripped

_BINARY = re.compile(rb"(<office:binary-data>)([A-Za-z0-9+/=\s]+)(</office:binary-data>)")


def pictures(data: bytes) -> bytes:
    """The same OpenDocument text with those pictures cleaned that can be read."""
    return cleaned(data, _BINARY)


def cleaned(data: bytes, pattern: re.Pattern[bytes]) -> bytes:
    """The same text without the metadata of its pictures. `pattern`: what stands before, the base64, what follows."""

    def clean(found: re.Match[bytes]) -> bytes:
        try:
            inner = stripped(base64.b64decode(found.group(2)))
        except (binascii.Error, ValueError, IndexError):
            return found.group()
        return found.group(1) + base64.b64encode(inner) + found.group(3) if inner is not None else found.group()

    return pattern.sub(clean, data)
