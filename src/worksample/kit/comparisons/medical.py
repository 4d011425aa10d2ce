"""Medical pictures: DICOM files by their attributes, their pixels, and what must not be in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.kit.check_score import Check, average
from worksample.kit.reader_process import ReaderLimits, Reading, read_apart
from worksample.kit.source import UnreadableSource

from .arrays import distances
from .bands import Bands, compare_artifacts, densest, in_bands
from .values import ValueRules, compare_values

if TYPE_CHECKING:
    import numpy as np

EXTRA = "graders-medical"
ELEMENT_LIMIT = 20_000
PIXEL_LIMIT = 16_000_000
_READ = "worksample.kit.comparisons.medical:dicom_of"
_LIMITS = ReaderLimits(seconds=30, memory=1 << 30, file=128 << 20)


@dataclass(frozen=True, slots=True)
class Dicom:
    """A DICOM file: `attributes` by keyword (private ones as `gggg,eeee`), nested in sequences, and `pixels` with the
    rescale slope and intercept applied; None without pixels.
    """

    attributes: dict[str, Any]
    pixels: np.ndarray | None


def dicom(
    got: Path, want: Path, *, attributes: Sequence[str] = (), tolerance: float = 1e-6, bands: Bands | None = None,
    absent: Sequence[str] = (), trivial: Sequence[Path] = (),
) -> Check:  # fmt: skip
    """Return the similarity of two DICOM files: the share of right attributes, and of pixels in each band of distance.

    attributes: keywords of the reference's attributes to compare, by default all. bands: distances of pixels in the
    unit of the rescaled values; without bands, pixels are not compared. absent: patterns of keywords that must not
    occur at any depth, such as `Patient*`; one that has a value scores 0, and so does a private attribute for the
    pattern `*,*`. Raises DeliverableError if the deliverable is malformed.
    """

    def measure(mine: Dicom, theirs: Dicom) -> Check:
        if found := _forbidden(mine.attributes, absent):
            return Check(0.0, f"still has {', '.join(found[:5])}")
        names = attributes or tuple(theirs.attributes)
        a, b = ({name: one.attributes[name] for name in names if name in one.attributes} for one in (mine, theirs))
        checks = [compare_values(a, b, ValueRules(tolerance=tolerance))] if b else []
        if bands is not None:
            checks.append(_pixels(mine.pixels, theirs.pixels, bands))
        return average(checks)

    def fillers(theirs: Dicom) -> list[Dicom]:
        import numpy as np

        if bands is None or theirs.pixels is None or np.ptp(theirs.pixels) == 0:
            return []
        guesses = (float(np.median(theirs.pixels)), *densest(theirs.pixels, bands))
        return [Dicom(theirs.attributes, np.full_like(theirs.pixels, value)) for value in guesses]

    return compare_artifacts(got, want, read_dicom, measure, trivial=trivial, fillers=fillers)


def _pixels(mine: np.ndarray | None, theirs: np.ndarray | None, bands: Bands) -> Check:
    if theirs is None:
        raise UnreadableSource("the reference has no pixels to compare")
    if mine is None or mine.shape != theirs.shape:
        return Check(0.0, f"the pixels have the shape {None if mine is None else mine.shape} instead of {theirs.shape}")
    return in_bands(distances(mine, theirs), bands, "the pixels")


def _forbidden(attributes: Mapping[str, Any], patterns: Sequence[str]) -> list[str]:
    from fnmatch import fnmatchcase

    found, stack = [], [attributes]
    while stack:
        for name, value in stack.pop().items():
            if value not in ("", None, []) and any(fnmatchcase(name, pattern) for pattern in patterns):
                found.append(name)
            stack += [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    return found


def read_dicom(path: Path) -> Dicom:
    """Read a DICOM file with its preamble. Raises UnreadableSource if it is malformed, its pixels need a decoder that
    is not installed, or a limit is exceeded.
    """
    with path.open("rb") as file:
        head = file.read(132)
    if head[128:] != b"DICM":
        raise UnreadableSource("is not a DICOM file")
    found = read_apart(_READ, path, extra=EXTRA, limits=_LIMITS)
    return Dicom(found.facts["attributes"], found.arrays.get("pixels"))


def dicom_of(path: Path) -> Reading:
    """Return a file's attributes and pixels. Runs in a reader process."""
    import numpy as np
    import pydicom
    from pydicom import config

    config.convert_wrong_length_to_UN = False
    data = pydicom.dcmread(path, force=False)
    count = [0]
    attributes = _plain(data, count)
    arrays = {}
    if "PixelData" in data:
        size = int(data.Rows) * int(data.Columns) * int(data.get("NumberOfFrames") or 1)
        size *= int(data.get("SamplesPerPixel") or 1)
        if size > PIXEL_LIMIT:
            raise UnreadableSource(f"has more than {PIXEL_LIMIT:,} pixels")
        pixels = data.pixel_array.astype("f8")
        slope, intercept = float(data.get("RescaleSlope", 1)), float(data.get("RescaleIntercept", 0))
        if not np.isfinite([slope, intercept]).all():
            raise UnreadableSource("has a rescale slope or intercept that is not a number")
        arrays["pixels"] = pixels * slope + intercept
    return Reading({"attributes": attributes}, arrays)


def _plain(data: Any, count: list[int], depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if depth > 16:
        raise UnreadableSource("is nested deeper than 16 sequences")
    for element in data:
        count[0] += 1
        if count[0] > ELEMENT_LIMIT:
            raise UnreadableSource(f"has more than {ELEMENT_LIMIT:,} attributes")
        name = element.keyword or f"{element.tag.group:04x},{element.tag.element:04x}"
        if name == "PixelData":
            continue
        if element.VR == "SQ":
            found[name] = [_plain(item, count, depth + 1) for item in element.value]
        else:
            found[name] = _value(element.value)
    return found


def _value(value: Any) -> Any:
    import math

    if isinstance(value, (bytes, bytearray)):
        return value.hex()[:4_000]
    if isinstance(value, (list, tuple)) or type(value).__name__ == "MultiValue":
        return [_value(one) for one in list(value)[:4_000]]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    try:
        number = float(value) if not isinstance(value, str) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    return number if math.isfinite(number) else str(value)[:4_000]
