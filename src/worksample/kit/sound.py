"""A reader of uncompressed sound files (`.wav`), with a limit on the size."""

from __future__ import annotations

import struct
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .source import UnreadableSource

if TYPE_CHECKING:
    import numpy as np

SOUND_LIMIT = 64 << 20
"""Maximum size in bytes of the samples of a sound file."""


@dataclass(frozen=True, slots=True)
class Sound:
    """Decoded sound. `samples` has the shape (frames, channels), with values from -1 to 1. `rate` is the number of
    frames per second.
    """

    rate: int
    samples: np.ndarray

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate if self.rate else 0.0

    @property
    def loudness(self) -> float:
        """Root mean square of all samples, from 0 to 1."""
        import numpy as np

        return float(np.sqrt(np.mean(np.square(self.samples), dtype=np.float64))) if self.samples.size else 0.0


def read_wav(path: Path) -> Sound:
    """Read an uncompressed sound file of 8, 16, 24 or 32 bits per sample. Raises UnreadableSource if the file has
    another form, is broken, or exceeds `SOUND_LIMIT`.
    """
    import numpy as np

    try:
        with path.open("rb") as raw, wave.open(raw) as file:
            width, channels, rate, frames = (
                file.getsampwidth(), file.getnchannels(), file.getframerate(), file.getnframes(),
            )  # fmt: skip
            if width * channels * frames > SOUND_LIMIT:
                raise UnreadableSource(f"holds more than {SOUND_LIMIT:,} bytes of samples")
            data = file.readframes(frames)
    except UnreadableSource:
        raise
    except (wave.Error, EOFError, RuntimeError, ValueError, ArithmeticError, struct.error) as error:
        raise UnreadableSource(f"is not a WAV: {error or 'it is cut off'}") from error
    if width not in (1, 2, 3, 4) or not channels or not rate:
        raise UnreadableSource(
            f"is in an unsupported WAV format: {8 * width} bits, {channels} channels, {rate} frames a second"
        )
    data = data[: len(data) // (width * channels) * width * channels]
    if width == 1:
        samples = (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    else:
        whole = np.zeros((len(data) // width, 4), np.uint8)
        whole[:, 4 - width :] = np.frombuffer(data, np.uint8).reshape(-1, width)
        samples = whole.reshape(-1).view("<i4").astype(np.float32) / 2**31
    return Sound(rate, samples.reshape(-1, channels))
