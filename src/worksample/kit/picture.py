"""A reader of pictures, with limits on file size and number of pixels."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from .source import UnreadableSource

if TYPE_CHECKING:
    from PIL.Image import Image

PIXEL_LIMIT = 25_000_000
"""Maximum number of pixels (width times height) of a picture. Larger pictures are not decoded."""
FILE_LIMIT = 256 << 20
"""Maximum size of a picture file in bytes."""
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")


def read_image(path: Path) -> Image:
    """Return the first frame of a picture, decoded and turned upright. Raises UnreadableSource if the format is not in
    `FORMATS`, the file is broken, or the picture exceeds a limit.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    if path.stat().st_size > FILE_LIMIT:
        raise UnreadableSource(f"is larger than {FILE_LIMIT:,} bytes")
    try:
        with warnings.catch_warnings():
            # Pillow warns about odd files and large pictures; the limit below replaces its own.
            warnings.simplefilter("ignore")
            with Image.open(path, formats=FORMATS) as picture:
                width, height = picture.size
                if width * height > PIXEL_LIMIT:
                    raise UnreadableSource(f"has {width} x {height} pixels, more than {PIXEL_LIMIT:,}")
                picture.load()
                return ImageOps.exif_transpose(picture) or picture
    except UnreadableSource:
        raise
    except (
        UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError, EOFError, TypeError,
        ArithmeticError, LookupError, AttributeError, AssertionError, RuntimeError, struct.error, zlib.error,
    ) as error:  # fmt: skip
        raise UnreadableSource(f"is not a picture that can be decoded ({type(error).__name__})") from error
