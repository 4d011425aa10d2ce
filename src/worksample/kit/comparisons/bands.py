"""Shared parts of all modes for artifacts: the order of reading, bands of tolerance, and answers that earn nothing.

A comparison reads the reference first, then the deliverable, measures the share that is right, and subtracts what a
trivial answer would reach: a copy of an input, a constant, an empty document. So a trivial answer scores exactly 0, and
a better one the part of the way from there to the reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from worksample.errors import Cause, GraderError, ReferenceUnreadable
from worksample.kit.check_score import Check
from worksample.kit.source import UnreadableSource, deliverable, reference

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")
Bands = Mapping[float, float]
"""Largest distance -> weight, such as `{0.3: 0.7, 2.0: 0.3}` (ALE C.3.3)."""


def compare_artifacts(
    got: Path, want: Path, read: Callable[[Path], T], measure: Callable[[T, T], Check], *,
    trivial: Sequence[Path] = (), fillers: Callable[[T], Iterable[T]] | None = None,
) -> Check:  # fmt: skip
    """Compare a deliverable with a reference, and score how much better it is than trivial answers.

    read: reads either file; raises UnreadableSource. measure: compares what was read, deliverable first. trivial: files
    of the task that must score 0 when handed in, such as inputs; files of another format are left out, because they
    are malformed as a deliverable. fillers: makes further trivial answers from the reference.

    Raises DeliverableError if the deliverable is malformed; ReferenceUnreadable if the reference is, or if a trivial
    answer is as good as the reference.
    """
    with reference(want.name):
        theirs = read(want)
    floor = max((measure(one, theirs).fraction for one in _trivial(theirs, read, trivial, fillers)), default=0.0)
    with deliverable(got.name):
        found = measure(read(got), theirs)
    return above_floor(found, floor)


def _trivial(
    theirs: T, read: Callable[[Path], T], paths: Sequence[Path], fillers: Callable[[T], Iterable[T]] | None
) -> Iterable[T]:
    for path in paths:
        if not path.is_file():
            raise ReferenceUnreadable(
                "is missing, but is named as a trivial answer", where=path.name, next="worksample task check FOLDER"
            )
        try:
            yield read(path)
        except UnreadableSource:
            continue
    if fillers is not None:
        yield from fillers(theirs)


def above_floor(check: Check, floor: float) -> Check:
    """Return the check with `floor` as 0: the part of the way from a trivial answer to the full score.

    Raises ReferenceUnreadable if the floor is 1, because then no work is needed.
    """
    if floor >= 1 - 1e-9:
        raise ReferenceUnreadable(
            "a trivial answer is as good as the reference, so that nothing can be graded",
            next="give a reference that differs from inputs and constants, or compare more of it",
        )
    share = max(0.0, (check.fraction - floor) / (1 - floor))
    reason = check.reason
    if share <= 0 < check.fraction:
        reason = f"no better than a trivial answer, which reaches {floor:.1%}; {reason}".rstrip("; ")
    return Check(min(1.0, share), reason, check.at)


def in_bands(distances: np.ndarray, bands: Bands, what: str = "values", weights: np.ndarray | None = None) -> Check:
    """Return the share of distances within each band, weighted. NaN is outside every band.

    distances: of each value to the right one, 0 or more. weights: of the distances. Raises GraderError if the bands
    are not distances of 0 or more with weights above 0.
    """
    import numpy as np

    total = check_bands(bands)
    if not distances.size:
        return Check(0.0, f"no {what} to compare")
    shares = {}
    for limit in bands:
        inside = distances <= limit * (1 + 1e-9) + 1e-12
        shares[limit] = float(np.average(inside, weights=weights))
    score = math.fsum(weight * shares[limit] for limit, weight in bands.items()) / total
    text = ", ".join(f"{share:.1%} of {what} within {limit:g}" for limit, share in shares.items() if share < 1)
    return Check(min(1.0, score), text)


def densest(numbers: np.ndarray, bands: Bands) -> list[float]:
    """Return constants that are good guesses: for each band, the one that lies within it of the most numbers."""
    import numpy as np

    ordered = np.sort(numbers[np.isfinite(numbers)].ravel())
    found = []
    for limit in bands if ordered.size else ():
        last = np.searchsorted(ordered, ordered + 2 * limit, side="right")
        first = int((last - np.arange(ordered.size)).argmax())
        found.append(float(ordered[first] + ordered[last[first] - 1]) / 2)
    return found


def check_bands(bands: Bands) -> float:
    """Return the sum of the weights. Raises GraderError if the bands are malformed."""
    total = math.fsum(bands.values()) if bands else 0.0
    if not math.isfinite(total) or total <= 0 or min(bands.values()) <= 0 or not all(0 <= d < math.inf for d in bands):
        raise GraderError(
            "bands need distances of 0 or more and weights above 0",
            cause=Cause.GRADER_CRASH,
            next="pass distance -> weight, such as {0.3: 0.7, 2.0: 0.3}",
        )
    return total
