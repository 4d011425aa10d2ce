"""Agglomerative clustering of unit vectors by cosine distance, and the stability of the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from worksample.errors import UsageError

Linkage = Literal["average", "complete", "ward"]
MORE = "worksample clusters EXPERIMENT ..., with more experiments"
LARGEST = 12_000
"""Maximum number of texts to cluster. The distances between n texts need 4 * n**2 bytes of memory."""
_CUTS = 40


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """Settings of grouping texts."""

    shown: int = 20
    """Number of clusters to list, largest first (UpBench 5.5 lists 20)."""
    linkage: Linkage = "average"
    distance: float | None = None
    """Cosine distance at which the tree of clusters is cut (for the linkage ward, its own height). None means the
    distance with the best mean silhouette.
    """
    resamples: int = 20
    """Number of random subsets, each with four fifths of the texts, from which stability is measured."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters of texts. `groups` gives the number of the cluster of each text; 0 is the largest cluster. `cut` is the
    distance at which the tree was cut.
    """

    groups: NDArray[np.int64]
    cut: float
    silhouette: float | None
    """Mean silhouette over all texts, in -1..1. None if all texts are in one cluster, or each text is a cluster of its
    own.
    """


def cluster_vectors(vectors: NDArray[np.float64], config: ClusterConfig) -> Clusters:
    """Group the rows of `vectors` into clusters. Raises UsageError for fewer than 3 rows, or more than `LARGEST`."""
    from scipy.cluster.hierarchy import fcluster
    from scipy.spatial.distance import squareform

    n = len(vectors)
    if n < 3:
        raise UsageError(f"{n} different criteria are too few to group: 3 are needed", next=MORE)
    if n > LARGEST:
        raise UsageError(
            f"the experiments have {n} different criteria; at most {LARGEST} can be grouped",
            next="worksample clusters EXPERIMENT, with fewer experiments",
        )
    distances = _distances(vectors)
    tree = _tree(vectors, distances, config.linkage)
    cuts = [config.distance] if config.distance is not None else _cuts(tree)
    square = squareform(distances)

    def cut_at(cut: float) -> Clusters:
        groups = _by_size(fcluster(tree, cut, criterion="distance"))
        return Clusters(groups, cut, _silhouette(square, groups))

    found = (cut_at(cut) for cut in cuts)
    return max(found, key=lambda c: -1.0 if c.silhouette is None else c.silhouette)


def stability(vectors: NDArray[np.float64], found: Clusters, config: ClusterConfig) -> list[float]:
    """Return the adjusted Rand index (Hubert and Arabie 1985) for each resample. It compares the clusters of a random
    four fifths of the texts, cut at the same distance, with the clusters of all texts.
    """
    rng = np.random.default_rng(config.seed)
    fixed = ClusterConfig(config.shown, config.linkage, found.cut)
    scores = []
    for _ in range(config.resamples):
        kept = np.sort(rng.choice(len(vectors), max(3, len(vectors) * 4 // 5), replace=False))
        scores.append(rand_index(found.groups[kept], cluster_vectors(vectors[kept], fixed).groups))
    return scores


def rand_index(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the adjusted Rand index, the agreement of two groupings of the same texts. It is 1 for equal groupings and
    0 for the agreement expected by chance.
    """
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)

    def pairs(counts: NDArray[np.float64]) -> float:
        return float((counts * (counts - 1) / 2).sum())

    rows, columns = pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    chance = rows * columns / max(pairs(np.array([table.sum()])), 1.0)
    most = (rows + columns) / 2
    return 1.0 if most == chance else (pairs(table) - chance) / (most - chance)


def _distances(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.spatial.distance import pdist

    # A text without words has no direction: it is as far from all others as two that share nothing.
    return np.clip(np.nan_to_num(pdist(vectors, "cosine"), nan=1.0), 0.0, 2.0)


def _tree(vectors: NDArray[np.float64], distances: NDArray[np.float64], linkage: Linkage) -> NDArray[np.float64]:
    from scipy.cluster import hierarchy

    # On unit vectors the squared Euclidean distance is twice the cosine distance.
    return hierarchy.linkage(np.sqrt(2 * distances) if linkage == "ward" else distances, linkage)


def _cuts(tree: NDArray[np.float64]) -> list[float]:
    heights = np.unique(tree[:, 2])
    return [float(h) for h in np.unique(np.quantile(heights, np.linspace(0.2, 0.995, _CUTS)))]


def _by_size(labels: NDArray[np.int32]) -> NDArray[np.int64]:
    _, groups, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[groups]


def _silhouette(square: NDArray[np.float64], groups: NDArray[np.int64]) -> float | None:
    """Return the mean silhouette of the texts (Rousseeuw 1987): how much closer a text is to its own cluster than to
    the next cluster. A text alone in its cluster has silhouette 0.
    """
    count = int(groups.max()) + 1
    if count < 2 or count == len(groups):
        return None
    sizes = np.bincount(groups)
    member = np.zeros((len(groups), count))
    member[np.arange(len(groups)), groups] = 1
    sums = square @ member
    mine = sizes[groups]
    own = sums[np.arange(len(groups)), groups] / np.maximum(mine - 1, 1)
    means = sums / sizes
    means[np.arange(len(groups)), groups] = np.inf
    other = means.min(axis=1)
    width = np.maximum(own, other)
    return float(np.where((mine > 1) & (width > 0), (other - own) / np.where(width > 0, width, 1), 0.0).mean())
