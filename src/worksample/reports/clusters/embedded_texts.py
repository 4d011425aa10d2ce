"""Embedded texts: vectors of length 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Embedded texts. `vectors`: a row of length 1 per text, in float64. `by`: the embedding, with its version and
    dimensions.
    """

    vectors: NDArray[np.float64]
    by: str


def unit_vectors(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Scale rows to length 1; a row of zeros stays zero."""
    made = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(made, axis=1, keepdims=True)
    return made / np.where(length > 0, length, 1.0)
