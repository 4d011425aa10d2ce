"""Embedding by a provider's model, through the API that nearly all providers offer: `POST {base}/embeddings`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from worksample.errors import ModelKeyError, UsageError, WorksampleError

from .embedded_texts import Embeddings, unit_vectors

if TYPE_CHECKING:
    from httpx import Client, Response

BASES = {"openai": "https://api.openai.com/v1", "openrouter": "https://openrouter.ai/api/v1"}
AT_ONCE = 256
TRIES = 4


def embed_provider(texts: Sequence[str], by: str, base_url: str = "") -> Embeddings:
    """Embed texts by a provider's model.

    `by`: provider/model; the key is read from PROVIDER_API_KEY, the base URL from `base_url` or PROVIDER_BASE_URL.
    Raises UsageError, ModelKeyError, or WorksampleError if the service does not answer.
    """
    import httpx

    provider, _, model = by.partition("/")
    name = provider.upper().replace("-", "_")
    base = base_url or os.environ.get(f"{name}_BASE_URL", "") or BASES.get(provider, "")
    if not base:
        raise UsageError(
            f"the address of the provider {provider!r} is not known", next=f"set {name}_BASE_URL, or give --base-url"
        )
    key = os.environ.get(f"{name}_API_KEY", "")
    rows: list[list[float]] = []
    # Without a key no authorization is sent: a local service may need none.
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx.Client(transport=httpx.HTTPTransport(retries=TRIES), timeout=120, headers=headers) as client:
        for start in range(0, len(texts), AT_ONCE):
            part = list(texts[start : start + AT_ONCE])
            answer = _post(client, f"{base.rstrip('/')}/embeddings", {"model": model, "input": part}, name)
            rows += _vectors(answer, len(part))
    return Embeddings(unit_vectors(np.array(rows)), f"{by}, {len(rows[0])} dimensions")


def _post(client: Client, url: str, body: dict[str, object], name: str) -> Response:
    """Send a request and return its response. The request is retried if the service is busy."""
    import httpx

    for n in range(TRIES):
        try:
            answer = client.post(url, json=body)
        except httpx.HTTPError as e:
            raise WorksampleError(f"the service does not answer: {e}", where=url, next="check --base-url") from e
        if answer.status_code in (401, 403):
            raise ModelKeyError(
                f"the embedding service rejects the key: {answer.text[:300]}", where=url, next=f"check {name}_API_KEY"
            )
        if answer.status_code != 429 and answer.status_code < 500:
            break
        asked = answer.headers.get("Retry-After", "")
        time.sleep(min(float(asked), 60.0) if asked.isdecimal() else 0.2 * 2**n)
    return answer


def _vectors(answer: Response, count: int) -> list[list[float]]:
    """Return the vector of each text from the response, in the order of the texts."""
    where = str(answer.url)
    try:
        data = answer.json()["data"] if answer.is_success else None
        rows = [list(map(float, row["embedding"])) for row in sorted(data or (), key=lambda r: r["index"])]
    except (ValueError, KeyError, TypeError):
        data = None
    if data is None:
        said = f"no embeddings in the answer ({answer.status_code}): {answer.text[:300]}"
        raise WorksampleError(said, where=where, next="check --base-url, and the model in --by")
    if len(rows) != count or len({len(r) for r in rows}) != 1 or not np.isfinite(rows).all():
        raise WorksampleError(
            f"the service returned {len(rows)} vectors for {count} texts, or vectors of unequal length",
            where=where,
            next="check --base-url, and the model in --by",
        )
    return rows
