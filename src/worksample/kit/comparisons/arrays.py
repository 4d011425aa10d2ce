"""Numeric arrays (ALE C.3.2): NumPy files without pickle, element by element, in bands of distance."""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.kit.check_score import Check, average
from worksample.kit.source import UnreadableSource, read_bytes

from .bands import Bands, compare_artifacts, densest, in_bands

if TYPE_CHECKING:
    import numpy as np

FILE_LIMIT = 128 << 20
VALUE_LIMIT = 16_000_000
"""Maximum number of elements of all arrays in a file together."""
MEMBER_LIMIT = 256
HEADER_LIMIT = 10_000
SINGLE = ""
"""Name of the array of an `.npy` file, which has no name."""
Arrays = dict[str, "np.ndarray"]


def arrays(
    got: Path, want: Path, bands: Bands, *, relative: bool = False, names: Iterable[str] = (),
    trivial: Sequence[Path] = (),
) -> Check:  # fmt: skip
    """Return the share of elements in each band around the right values, averaged over the arrays of the reference.

    Reads `.npy` and `.npz` files. bands: distance -> weight, such as `{0.01: 1}`. relative: whether a distance is a
    share of the right value. names: arrays of the reference to compare, by default all. An array that is missing or has
    another shape scores 0. NaN is right only if the reference has NaN at the same place. A constant array scores 0, and
    so does each file in `trivial`.

    Raises DeliverableError if the deliverable is malformed: pickled objects, texts, more than `VALUE_LIMIT` elements, a
    cut file. Raises ReferenceUnreadable if the reference is.
    """
    chosen = tuple(names)

    def measure(mine: Arrays, theirs: Arrays) -> Check:
        return average(
            [_compare_array(mine.get(name), theirs[name], name, bands, relative) for name in chosen or theirs]
        )

    def read(path: Path) -> Arrays:
        found = read_arrays(path)
        if not found:
            raise UnreadableSource("holds no arrays")
        return found

    return compare_artifacts(got, want, read, measure, trivial=trivial, fillers=lambda found: _constants(found, bands))


def _compare_array(mine: np.ndarray | None, theirs: np.ndarray, name: str, bands: Bands, relative: bool) -> Check:
    what = f"array {name!r}" if name else "the array"
    if mine is None:
        return Check(0.0, f"{what} is missing")
    if mine.shape != theirs.shape:
        return Check(0.0, f"{what} has the shape {mine.shape} instead of {theirs.shape}")
    return in_bands(distances(mine, theirs, relative), bands, f"{what}'s elements")


def distances(mine: np.ndarray, theirs: np.ndarray, relative: bool = False) -> np.ndarray:
    """Return the distance of each element to the right one. It is infinite if one of them alone is NaN or infinite, and
    0 if both are NaN or the same infinity.
    """
    import numpy as np

    kind = np.complex128 if "c" in (mine.dtype.kind, theirs.dtype.kind) else np.float64
    a, b = mine.astype(kind), theirs.astype(kind)
    with np.errstate(all="ignore"):
        found = np.abs(a - b)
        if relative:
            found /= np.maximum(np.abs(b), np.finfo(np.float64).tiny)
    both = (np.isnan(a) & np.isnan(b)) | (a == b)
    whole: np.ndarray = np.where(both, 0.0, np.where(np.isfinite(a) & np.isfinite(b), found, math.inf))
    clear: np.ndarray = np.nan_to_num(whole, nan=math.inf, posinf=math.inf)
    return clear


def _constants(theirs: Mapping[str, np.ndarray], bands: Bands) -> list[Arrays]:
    import numpy as np

    made: list[Arrays] = [{} for _ in range(len(bands) + 2)]
    for name, array in theirs.items():
        finite = array[np.isfinite(array)].real
        for one, value in zip(
            made, (0.0, np.median(finite) if finite.size else 0.0, *densest(finite, bands)), strict=False
        ):
            one[name] = np.full(array.shape, value)
        for one in made:
            one.setdefault(name, np.zeros(array.shape))
    # An array that is constant in the reference cannot be told from a filler by its values; the others can.
    return made if any(np.unique(a).size > 1 for a in theirs.values()) else []


def read_arrays(path: Path) -> Arrays:
    """Return the numeric arrays of an `.npy` or `.npz` file by name. Pickled objects are refused, never loaded.

    Raises UnreadableSource if the file is another format, is cut off, holds other things than numbers, or exceeds a
    limit.
    """
    data = read_bytes(path, FILE_LIMIT)
    if data[:6] == b"\x93NUMPY":
        return {SINGLE: _array(data, VALUE_LIMIT)}
    if data[:4] != b"PK\x03\x04":
        raise UnreadableSource("is neither .npy nor .npz")
    try:
        return _members(data)
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        if isinstance(error, UnreadableSource):
            raise
        raise UnreadableSource(f"is a damaged .npz: {error}") from error


def _members(data: bytes) -> Arrays:
    found: Arrays = {}
    left = VALUE_LIMIT
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > MEMBER_LIMIT:
            raise UnreadableSource(f"holds more than {MEMBER_LIMIT} arrays")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in found:
                raise UnreadableSource(f"holds two arrays named {name[:60]!r}")
            most = 16 * left + HEADER_LIMIT + 16
            with archive.open(member) as file:
                content = file.read(most + 1)
            if len(content) > most:
                raise UnreadableSource(f"holds more than {VALUE_LIMIT:,} elements")
            found[name] = _array(content, left)
            left -= found[name].size
    return found


def _array(data: bytes, most: int) -> np.ndarray:
    import numpy as np
    from numpy.lib import format as npy

    file = BytesIO(data)
    try:
        version = npy.read_magic(file)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
        if read is None:
            raise UnreadableSource(f"is an .npy file of the unknown version {version[0]}.{version[1]}")
        shape, by_column, kind = read(file, max_header_size=HEADER_LIMIT)
    except UnreadableSource:
        raise
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise UnreadableSource(f"has a malformed header: {str(error)[:200]}") from error
    if kind.kind not in "biufc" or kind.itemsize > 16:
        raise UnreadableSource(f"holds {kind} instead of numbers")
    many = math.prod(shape)
    if many > most:
        raise UnreadableSource(f"holds more than {VALUE_LIMIT:,} elements")
    rest = data[file.tell() :]
    if len(rest) != many * kind.itemsize:
        raise UnreadableSource(f"holds {len(rest):,} bytes of values instead of {many * kind.itemsize:,}")
    return np.frombuffer(rest, kind).reshape(shape, order="F" if by_column else "C")
