"""Labels for clusters of texts: the words that distinguish the texts of a cluster from all others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"[^\W\d_][\w'-]*", re.UNICODE)
_COMMON = frozenset({
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "been", "being", "both", "but", "by", "can",
    "contain", "contains", "do", "does", "each", "for", "from", "has", "have", "if", "in", "include", "includes",
    "including", "into", "is", "it", "its", "least", "more", "must", "no", "not", "of", "on", "one", "only", "or",
    "other", "per", "provide", "provides", "should", "so", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "to", "under", "up", "uses", "using", "was", "were", "when",
    "where", "which", "while", "will", "with", "within", "without",
})  # fmt: skip
"""Words that occur in every rubric and distinguish nothing. UpBench asks rubrics to use `Contains` and `Includes`
(A.3).
"""


def words_of(text: str) -> list[str]:
    return [w for w in _WORD.findall(text.lower()) if w not in _COMMON and len(w) > 1]


def terms_of(text: str) -> list[str]:
    """Return the words of a text and the pairs of neighbouring words."""
    words = words_of(text)
    return [*words, *(f"{a} {b}" for a, b in pairwise(words))]


def label_groups(texts: Sequence[str], groups: NDArray[np.int64], count: int = 4) -> dict[int, str]:
    """Return a label for each group: the `count` terms that distinguish its texts from other groups, by class-based
    tf-idf (BERTopic: Grootendorst 2022, 3).
    """
    found: dict[int, Counter[str]] = {}
    for text, g in zip(texts, groups.tolist(), strict=True):
        found.setdefault(g, Counter()).update(set(terms_of(text)))
    total: Counter[str] = Counter()
    for counts in found.values():
        total.update(counts)
    mean = sum(total.values()) / max(len(found), 1)
    return {g: _label(counts, total, mean, count) for g, counts in found.items()}


def _label(counts: Counter[str], total: Counter[str], mean: float, count: int) -> str:
    size = max(sum(counts.values()), 1)
    weights = {t: n / size * float(np.log1p(mean / total[t])) for t, n in counts.items()}
    best = sorted(weights, key=lambda t: (-weights[t], t))
    chosen: list[str] = []
    for term in best:
        said = {w for c in chosen for w in c.split()}
        if not said & set(term.split()):
            chosen.append(term)
        if len(chosen) == count:
            break
    return ", ".join(chosen) or "(no words)"
