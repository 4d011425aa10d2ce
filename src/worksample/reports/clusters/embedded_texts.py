"""Embedded texts: each text as a vector of length 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Embedded texts. `vectors` has one row of length 1 per text, in float64. `by` names the embedding with its version
    and number of dimensions.
    """

    vectors: NDArray[np.float64]
    by: str


def unit_vectors(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Scale each row to length 1. A row of zeros stays unchanged."""
    made = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(made, axis=1, keepdims=True)
    return made / np.where(length > 0, length, 1.0)
