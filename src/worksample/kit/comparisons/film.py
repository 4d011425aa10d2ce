"""Films: length, frames and motion, against a still and a black film as 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.kit.check_score import Check, average
from worksample.kit.reader_process import ReaderLimits, Reading, read_apart
from worksample.kit.source import UnreadableSource

from .bands import compare_artifacts

if TYPE_CHECKING:
    import numpy as np

EXTRA = "graders-media"
FRAME_LIMIT = 20_000
PIXEL_LIMIT = 8_300_000
"""Maximum number of pixels of a frame: 4K."""
SMALL = (48, 27)
"""Width and height of compared frames."""
_READ = "worksample.kit.comparisons.film:frames_of"
_LIMITS = ReaderLimits(seconds=120, memory=2 << 30, file=512 << 20)
CONTAINERS = {".mp4": "mov", ".mov": "mov", ".m4v": "mov", ".webm": "matroska", ".mkv": "matroska", ".avi": "avi"}


@dataclass(frozen=True, slots=True)
class Film:
    """A film: `seconds`, `rate` in frames per second, `width` and `height`, whether it has `sound`, and `frames` taken
    at even times, small, with the shape (frames, rows, columns, 3) and values from 0 to 1.
    """

    seconds: float
    rate: float
    width: int
    height: int
    sound: bool
    frames: np.ndarray


@dataclass(frozen=True, slots=True)
class FilmRules:
    """Rules that a film must meet to be compared. seconds: allowed difference of length. rate: allowed difference of
    frames per second. size: whether width and height must be the reference's. sound: whether a sound track is needed if
    the reference has one.
    """

    seconds: float = 0.5
    rate: float = 0.5
    size: bool = True
    sound: bool = True


def film(
    got: Path, want: Path, *, rules: FilmRules | None = None, difference: float = 0.08, frames: int = 24,
    trivial: Sequence[Path] = (),
) -> Check:  # fmt: skip
    """Return the similarity of two films: half the share of frames that look alike, half the likeness of their motion.

    Reads MP4, MOV, WebM, Matroska and AVI. A film that breaks a rule scores 0. frames: how many are compared, at the
    same share of each film's length. difference: the mean difference of colours, from 0 to 1, up to which two frames
    are alike. A black film, and a still of any compared frame, score 0. Raises DeliverableError if the deliverable is
    malformed or has more than 20,000 frames; ReferenceUnreadable if the reference is.
    """
    told = rules or FilmRules()

    def measure(mine: Film, theirs: Film) -> Check:
        if broken := _fault_of_film(mine, theirs, told):
            return Check(0.0, broken)
        return average([_frames(mine.frames, theirs.frames, difference), _motion(mine.frames, theirs.frames)])

    def read(path: Path) -> Film:
        return read_film(path, frames)

    return compare_artifacts(got, want, read, measure, trivial=trivial, fillers=_stills)


def _fault_of_film(mine: Film, theirs: Film, rules: FilmRules) -> str:
    if abs(mine.seconds - theirs.seconds) > rules.seconds:
        return f"lasts {mine.seconds:.2f} seconds instead of {theirs.seconds:.2f}"
    if abs(mine.rate - theirs.rate) > rules.rate:
        return f"has {mine.rate:.2f} frames per second instead of {theirs.rate:.2f}"
    if rules.size and (mine.width, mine.height) != (theirs.width, theirs.height):
        return f"has {mine.width} x {mine.height} pixels instead of {theirs.width} x {theirs.height}"
    return "has no sound" if rules.sound and theirs.sound and not mine.sound else ""


def _frames(mine: np.ndarray, theirs: np.ndarray, difference: float) -> Check:
    import numpy as np

    away = np.abs(mine - theirs).mean(axis=(1, 2, 3))
    alike = away <= difference
    return Check(float(alike.mean()), f"{int(alike.sum())} of {len(alike)} frames alike" if not alike.all() else "")


def _motion(mine: np.ndarray, theirs: np.ndarray) -> Check:
    """Return the likeness of two films' changes from frame to frame: place, time and direction."""
    import numpy as np

    a, b = np.diff(mine, axis=0), np.diff(theirs, axis=0)
    most = max(float((b**2).sum()), 1e-12)
    share = max(0.0, 1 - float(((a - b) ** 2).sum()) / most)
    return Check(share, f"motion {share:.3f}" if share < 1 else "")


def _stills(theirs: Film) -> Iterable[Film]:
    import numpy as np

    def still(frame: np.ndarray) -> Film:
        whole = np.broadcast_to(frame, theirs.frames.shape)
        return Film(theirs.seconds, theirs.rate, theirs.width, theirs.height, theirs.sound, whole)

    yield still(np.zeros_like(theirs.frames[0]))
    yield from map(still, theirs.frames)


def read_film(path: Path, frames: int = 24) -> Film:
    """Read a film and some of its frames. Raises UnreadableSource if the content is not the container that the ending
    says, nothing can be decoded, or a limit is exceeded.
    """
    if path.suffix.lower() not in CONTAINERS:
        raise UnreadableSource(f"is no {', '.join(CONTAINERS)}")
    found = read_apart(_READ, path, extra=EXTRA, limits=_LIMITS, options={"count": frames})
    return Film(**found.facts, frames=found.arrays["frames"].astype("f8") / 255)


def frames_of(path: Path, count: int) -> Reading:
    """Return a film's facts and `count` frames. Runs in a reader process.

    The file is opened as one object with a fixed container: playlists and references to other files are not followed.
    """
    import av
    import numpy as np

    container = CONTAINERS[path.suffix.lower()]
    with path.open("rb") as file, av.open(file, mode="r", format=container) as opened:
        if not opened.streams.video:
            raise UnreadableSource("has no picture")
        stream = opened.streams.video[0]
        if stream.width * stream.height > PIXEL_LIMIT:
            raise UnreadableSource(f"has more than {PIXEL_LIMIT:,} pixels")
        stream.thread_type = "NONE"
        small: list[Any] = []
        times: list[float] = []
        for frame in opened.decode(stream):
            if frame.width * frame.height > PIXEL_LIMIT or len(times) >= FRAME_LIMIT:
                raise UnreadableSource(f"has more than {FRAME_LIMIT:,} frames or {PIXEL_LIMIT:,} pixels")
            times.append(float(frame.time or 0.0))
            small.append(frame.to_ndarray(width=SMALL[0], height=SMALL[1], format="rgb24"))
        sound = bool(opened.streams.audio)
    if len(times) < 2:
        raise UnreadableSource("has fewer than two frames")
    rate = (len(times) - 1) / max(times[-1] - times[0], 1e-6)
    seconds = times[-1] - times[0] + 1 / rate
    chosen = np.minimum(((np.arange(count) + 0.5) / count * len(small)).astype(int), len(small) - 1)
    facts = {"seconds": seconds, "rate": rate, "width": stream.width, "height": stream.height, "sound": sound}
    return Reading(facts, {"frames": np.stack([small[i] for i in chosen])})
