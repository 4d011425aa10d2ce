"""Embedding of texts as unit vectors, by a built-in embedding or a provider's model. Every figure names the embedding
that it uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from worksample.errors import UsageError

from .cluster_labels import terms_of
from .embedded_texts import Embeddings, unit_vectors
from .minilm import embed_minilm
from .provider_embedding import embed_provider

TFIDF, MINILM = "tfidf", "minilm"
EMBEDDINGS = (TFIDF, MINILM)
"""Names of the built-in embeddings. Any other name means a provider's model, such as
`openai/text-embedding-3-large`.
"""
DIMENSIONS = 200
"""Number of dimensions of the tf-idf embedding after its reduction by singular value decomposition."""


def embed(texts: Sequence[str], by: str = TFIDF, *, base_url: str = "") -> Embeddings:
    """Embed texts as unit vectors with the embedding named `by`.

    Raises UsageError if no embedding has this name; ModelKeyError if the provider's key is missing or wrong;
    WorksampleError if the provider fails.
    """
    if by == TFIDF:
        return _tfidf(texts)
    if by == MINILM:
        return embed_minilm(texts)
    if "/" in by:
        return embed_provider(texts, by, base_url)
    raise UsageError(f"unknown embedding {by!r}", next=f"one of {', '.join(EMBEDDINGS)}, or provider/model")


def _tfidf(texts: Sequence[str]) -> Embeddings:
    """Embed texts by tf-idf of words and pairs of words, with sublinear counts and smooth idf. The vectors are reduced
    to the first singular vectors (latent semantic analysis).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import svds

    bags = [Counter(terms_of(t)) for t in texts]
    known = {t: n for n, t in enumerate(sorted({t for bag in bags for t in bag}))}
    seen = Counter(t for bag in bags for t in bag)
    cells = [(r, known[t], 1 + np.log(n), seen[t]) for r, bag in enumerate(bags) for t, n in bag.items()]
    if not cells:
        raise UsageError("the criteria have no words to compare", next="worksample clusters --by minilm")
    rows, columns, counts, spread = (np.array(c) for c in zip(*cells, strict=True))
    weights = counts * (np.log((1 + len(texts)) / (1 + spread)) + 1)
    matrix = csr_array((weights, (rows, columns)), shape=(len(texts), len(known)))
    lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    matrix = csr_array(matrix.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]))
    k = min(DIMENSIONS, min(matrix.shape) - 1)
    if k < 1:
        return Embeddings(unit_vectors(matrix.toarray()), "tf-idf")
    start = np.random.default_rng(0).standard_normal(min(matrix.shape))
    u, s, _ = svds(matrix, k=k, v0=start)
    return Embeddings(unit_vectors(u * s), f"tf-idf with SVD to {k} dimensions")
