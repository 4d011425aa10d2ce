"""Appearance of pictures: structure, a perceptual hash, and layout, against a blank page of the same size as 0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import Cause, GraderError
from worksample.kit.check_score import Check
from worksample.kit.picture import read_image

from .bands import compare_artifacts
from .visual import WORKING, _array, similarity

if TYPE_CHECKING:
    import numpy as np

HASH = 8
"""Side length of the square of low frequencies that a perceptual hash compares: 64 bits."""
GRID = 24
"""Rows and columns of the grid on which layouts are compared."""
MEASURES = ("structure", "hash", "layout", "colour")


def appearance(
    got: Path, want: Path, *, weights: Mapping[str, float] | None = None, same_size: bool = False,
    trivial: Sequence[Path] = (),
) -> Check:  # fmt: skip
    """Return the similarity of two pictures as a weighted mean of measures, so that a blank page scores 0.

    weights: measure -> weight; by default structure and layout. `structure` is structural similarity (Wang et al.
    2004), for pictures that must agree in detail. `hash` compares the low frequencies, for photographs that were scaled
    or compressed. `layout` compares the places of content, for pages whose words may differ. `colour` compares the
    distribution of colours. same_size: whether another size scores 0. trivial: pictures that must score 0.

    Raises DeliverableError if the deliverable is not a picture or has more than 25 million pixels.
    """
    chosen = {"structure": 0.5, "layout": 0.5} if weights is None else dict(weights)
    if not chosen or set(chosen) - set(MEASURES) or min(chosen.values()) <= 0:
        raise GraderError(
            f"the weights {chosen} are not measures with weights above 0",
            cause=Cause.GRADER_CRASH,
            next=f"use {', '.join(MEASURES)}",
        )
    sizes: dict[int, tuple[int, int]] = {}

    def read(path: Path) -> np.ndarray:
        picture = read_image(path)
        scale = min(1.0, WORKING / max(picture.size))
        pixels = _array(picture, tuple(max(1, round(n * scale)) for n in picture.size))  # type: ignore[arg-type]
        sizes[id(pixels)] = picture.size
        return pixels

    def measure(mine: np.ndarray, theirs: np.ndarray) -> Check:
        size, right = sizes.get(id(mine), sizes[id(theirs)]), sizes[id(theirs)]
        if same_size and size != right:
            return Check(0.0, f"{size[0]} x {size[1]} pixels instead of {right[0]} x {right[1]}")
        if not same_size and not 0.5 <= (size[0] / size[1]) / (right[0] / right[1]) <= 2:
            return Check(0.0, f"the proportions {size[0]}:{size[1]} are not those of {right[0]}:{right[1]}")
        shares = {name: _MEASURES[name](_resize(mine, theirs.shape), theirs) for name in chosen}
        score = math.fsum(chosen[name] * share for name, share in shares.items()) / math.fsum(chosen.values())
        return Check(score, ", ".join(f"{name} {share:.3f}" for name, share in shares.items() if share < 1))

    return compare_artifacts(got, want, read, measure, trivial=trivial, fillers=_blank_pages)


def _blank_pages(theirs: np.ndarray) -> Iterable[np.ndarray]:
    import numpy as np

    yield np.ones_like(theirs)
    yield np.zeros_like(theirs)
    yield np.broadcast_to(np.median(theirs, axis=(0, 1)), theirs.shape)


def _resize(pixels: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a picture with another number of rows and columns."""
    if pixels.shape == shape:
        return pixels
    import numpy as np
    from PIL import Image

    eight = Image.fromarray((np.clip(pixels, 0, 1) * 255).round().astype(np.uint8))
    return np.asarray(eight.resize((shape[1], shape[0]), Image.Resampling.BILINEAR), dtype=np.float64) / 255


def _grey(pixels: np.ndarray) -> np.ndarray:
    import numpy as np

    found: np.ndarray = pixels @ np.array([0.299, 0.587, 0.114])
    return found


def _hash_share(mine: np.ndarray, theirs: np.ndarray) -> float:
    """Return the share of equal bits of two perceptual hashes: 0 for half of the bits or fewer, as by chance."""
    a, b = _hash(mine), _hash(theirs)
    return max(0.0, 2 * float((a == b).mean()) - 1)


def _hash(pixels: np.ndarray) -> np.ndarray:
    """Return the signs of the low frequencies of a picture of 32 x 32 points, against their median (pHash)."""
    import numpy as np

    small = _grey(_resize(pixels, (32, 32, 3)))
    n = np.arange(32)
    cosines = np.cos(np.pi * np.outer(np.arange(HASH + 1), 2 * n + 1) / 64)
    low = (cosines @ small @ cosines.T)[1:, 1:]
    found: np.ndarray = low > np.median(low)
    return found


def _layout_share(mine: np.ndarray, theirs: np.ndarray) -> float:
    """Return the overlap of the places of content on a grid: the smaller amounts divided by the larger ones."""
    import numpy as np

    a, b = _ink(mine), _ink(theirs)
    most = np.maximum(a, b).sum()
    return float(np.minimum(a, b).sum() / most) if most > 0 else 1.0


def _ink(pixels: np.ndarray) -> np.ndarray:
    """Return how far each cell of the grid differs from the background, which is the commonest colour."""
    import numpy as np

    colours, counts = np.unique((pixels * 15).round().astype(np.int64).reshape(-1, 3), axis=0, return_counts=True)
    ground = colours[counts.argmax()] / 15
    away = np.abs(pixels - ground).max(axis=2)
    away = np.where(away > 0.08, away, 0.0)
    rows, columns = (np.linspace(0, n, GRID + 1).astype(int) for n in away.shape)
    cells = np.add.reduceat(np.add.reduceat(away, np.minimum(rows[:-1], away.shape[0] - 1), 0),
                            np.minimum(columns[:-1], away.shape[1] - 1), 1)  # fmt: skip
    found: np.ndarray = cells
    return found


def _colour_share(mine: np.ndarray, theirs: np.ndarray) -> float:
    import numpy as np

    def counts(pixels: np.ndarray) -> np.ndarray:
        bins = (np.clip(pixels, 0, 0.999) * 6).astype(np.int64) @ np.array([36, 6, 1])
        found: np.ndarray = np.bincount(bins.ravel(), minlength=216) / bins.size
        return found

    return float(np.minimum(counts(mine), counts(theirs)).sum())


_MEASURES = {"structure": similarity, "hash": _hash_share, "layout": _layout_share, "colour": _colour_share}
