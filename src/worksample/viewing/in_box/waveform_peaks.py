"""The outline of a sound, which a player draws without loading the sound."""

from __future__ import annotations

import array
import subprocess
from pathlib import Path

from .conversion_job import cpu_limit

RATE = 8_000
"""Samples of the sound that are read per second."""
POINTS = 2_000
SECONDS = 120
"""Maximum processor seconds to decode a sound."""


def peaks(ffmpeg: str, safe: list[str], file: Path, duration: float) -> list[float] | None:
    """Return about `POINTS` maxima of the absolute amplitude, 0 to 1, at equal steps; None if nothing can be
    decoded.
    """
    step = max(1, int(duration * RATE / POINTS))
    words = [ffmpeg, "-v", "error", "-nostdin", *safe, "-i", f"file:{file}", "-map", "0:a:0", "-ac", "1"]
    words += ["-ar", str(RATE), "-f", "s16le", "-"]
    out: list[float] = []
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        preexec_fn=cpu_limit(SECONDS),  # noqa: PLW1509 - converters have one thread
    ) as process:
        assert process.stdout is not None
        while (data := process.stdout.read(2 * step)) and len(out) <= POINTS:
            samples = array.array("h", data[: len(data) // 2 * 2])
            out.append(round(max(max(samples, default=0), -min(samples, default=0)) / 32768, 4))
        process.kill()
    return out or None
