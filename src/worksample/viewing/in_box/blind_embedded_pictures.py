"""Removal of metadata from pictures that are embedded as Base64 in flat OpenDocument files, SVG and HTML."""

from __future__ import annotations

import base64
import binascii
import re

from .blind_picture import strip_metadata

_BINARY = re.compile(rb"(<office:binary-data>)([A-Za-z0-9+/=\s]+)(</office:binary-data>)")


def pictures(data: bytes) -> bytes:
    """Remove the metadata of the pictures in a flat OpenDocument text. A picture that cannot be read stays
    unchanged.
    """
    return clean_pictures(data, _BINARY)


def clean_pictures(data: bytes, pattern: re.Pattern[bytes]) -> bytes:
    """Remove the metadata of pictures in a text. `pattern` has groups for the text before a picture, its Base64, and
    the text after it.
    """

    def clean(found: re.Match[bytes]) -> bytes:
        try:
            inner = strip_metadata(base64.b64decode(found.group(2)))
        except (binascii.Error, ValueError, IndexError):
            return found.group()
        return found.group(1) + base64.b64encode(inner) + found.group(3) if inner is not None else found.group()

    return pattern.sub(clean, data)
