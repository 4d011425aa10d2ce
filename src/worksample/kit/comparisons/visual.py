"""Visual appearance (ALE C.3.2), as far as a program can judge it: pictures by their pixels, SVG drawings by their
elements and texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import Cause, GraderError
from worksample.kit.check_score import Check
from worksample.kit.free_text import flat
from worksample.kit.markup import read_svg, shapes, texts
from worksample.kit.picture import read_image
from worksample.kit.source import deliverable, reference
from worksample.records.pass_rules import is_full

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

WINDOW = 8
"""Side length in pixels of the square windows in `similarity`."""
WORKING = 1024
"""Maximum side length in pixels of compared pictures. Larger pictures are scaled down before the comparison."""


def _pictures(got: Path | Image, want: Path | Image) -> tuple[Image, Image]:
    if isinstance(want, Path):
        with reference(want.name):
            want = read_image(want)
    if isinstance(got, Path):
        with deliverable(got.name):
            got = read_image(got)
    return got, want


def _array(picture: Image, size: tuple[int, int]) -> np.ndarray:
    """Return the RGB values (0 to 1) of a picture on a white background, scaled to `size`. The array has the shape
    (height, width, 3).
    """
    import numpy as np
    from PIL import Image as Pillow

    layer = picture.convert("RGBA")
    if layer.size != size:
        layer = layer.resize(size, Pillow.Resampling.BILINEAR)
    white = Pillow.new("RGBA", size, (255, 255, 255, 255))
    return np.asarray(Pillow.alpha_composite(white, layer).convert("RGB"), dtype=np.float64) / 255


def similarity(a: np.ndarray, b: np.ndarray) -> float:
    """Return the structural similarity of two pictures of equal shape, from 0 to 1.

    Uses the method of Wang et al. 2004 on luminance, over square windows of `WINDOW` pixels that do not overlap.
    Windows with a negative similarity count as 0.
    """
    import numpy as np

    grey = np.array([0.299, 0.587, 0.114])

    def windows(picture: np.ndarray) -> np.ndarray:
        y = picture @ grey
        h, w = (max(WINDOW, -(-n // WINDOW) * WINDOW) for n in y.shape)
        y = np.pad(y, ((0, h - y.shape[0]), (0, w - y.shape[1])), mode="edge")
        found: np.ndarray = y.reshape(h // WINDOW, WINDOW, w // WINDOW, WINDOW).swapaxes(1, 2).reshape(-1, WINDOW**2)
        return found

    x, y = windows(a), windows(b)
    mx, my = x.mean(axis=1), y.mean(axis=1)
    vx, vy = x.var(axis=1), y.var(axis=1)
    both = ((x - mx[:, None]) * (y - my[:, None])).mean(axis=1)
    c1, c2 = 0.01**2, 0.03**2
    index = ((2 * mx * my + c1) * (2 * both + c2)) / ((mx**2 + my**2 + c1) * (vx + vy + c2))
    return float(np.clip(index, 0, 1).mean())


def visual(
    got: Path | Image, want: Path | Image, *, measure: str = "similarity", same_size: bool = True, floor: float = 0.0
) -> Check:
    """Return the similarity of two pictures, from 0 to 1.

    measure: `similarity` (structural similarity, Wang et al. 2004) or `difference` (1 minus the mean absolute
    difference of the RGB values). same_size: whether a picture of another size than the reference scores 0; if false,
    the deliverable is scaled to the size of the reference. floor: the measured value that scores 0, so that a blank
    page earns nothing; above the floor, the score rises linearly to 1.
    """
    if measure not in ("similarity", "difference") or not 0 <= floor < 1:
        raise GraderError(
            f"the measure {measure!r} or the floor {floor} is not allowed",
            next='pass "similarity" or "difference", and a floor of 0 or more, below 1',
            cause=Cause.GRADER_CRASH,
        )
    mine, theirs = _pictures(got, want)
    if same_size and mine.size != theirs.size:
        return Check(0.0, f"{mine.size[0]} x {mine.size[1]} pixels instead of {theirs.size[0]} x {theirs.size[1]}")
    scale = min(1.0, WORKING / max(theirs.size))
    size = (max(1, round(theirs.size[0] * scale)), max(1, round(theirs.size[1] * scale)))
    a, b = _array(mine, size), _array(theirs, size)
    raw = similarity(a, b) if measure == "similarity" else 1 - float(abs(a - b).mean())
    share = max(0.0, raw - floor) / (1 - floor)
    return Check(min(1.0, share), f"{measure} {raw:.4f}" if not is_full(share) else "")


def drawing(got: Path, want: Path, *, shares: tuple[float, float] = (0.5, 0.5)) -> Check:
    """Return the similarity of two SVG drawings, from 0 to 1: the overlap of their elements and the overlap of their
    texts.

    The overlap is the number of common items divided by the larger number of items. shares: weights of elements and
    texts.
    """
    with reference(want.name):
        theirs = read_svg(want)
    with deliverable(got.name):
        mine = read_svg(got)
    a, b = shapes(mine), shapes(theirs)
    elements = (a & b).total() / max(1, a.total(), b.total())
    left, right = [flat(t) for t in texts(mine)], [flat(t) for t in texts(theirs)]
    missing = [t for t in right if t not in left]
    wording = (len(right) - len(missing)) / max(len(left), len(right)) if left or right else 1.0
    total = sum(shares)
    if not total > 0 or min(shares) < 0:
        raise GraderError(
            f"the shares {shares} are not two weights",
            next="pass two weights, none below 0, such as (0.5, 0.5)",
            cause=Cause.GRADER_CRASH,
        )
    score = (shares[0] * elements + shares[1] * wording) / total
    lacks = {name: n - a[name] for name, n in b.items() if n > a[name]}
    notes = [f"{n} {name} fewer" for name, n in list(lacks.items())[:5]] + [f"no text {t!r}" for t in missing[:5]]
    return Check(min(1.0, max(0.0, score)), "; ".join(notes))
