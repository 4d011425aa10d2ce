"""Pictures of a screen: scaled to what a model takes, and encoded."""

from __future__ import annotations

import io
import math

import numpy as np
from numpy.typing import NDArray

LONGEST_SIDE, MOST_PIXELS = 1568, 1_150_000
"""Maximum side and number of pixels of a picture for a model. Providers scale larger ones down themselves, and the
model's coordinates would then fit no longer.
"""
QUALITY = 90


def picture_size(screen: tuple[int, int]) -> tuple[int, int]:
    """Return the size of the picture that a model sees of a screen."""
    width, height = screen
    scale = min(1.0, LONGEST_SIDE / max(screen), math.sqrt(MOST_PIXELS / (width * height)))
    return max(1, round(width * scale)), max(1, round(height * scale))


def encode(frame: NDArray[np.uint8], size: tuple[int, int] | None = None) -> bytes:
    """Return a frame (blue, green, red, unused) as JPEG, scaled to `size`."""
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(frame[:, :, 2::-1]))
    if size is not None and size != picture.size:
        picture = picture.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=QUALITY, subsampling=0)
    return out.getvalue()
