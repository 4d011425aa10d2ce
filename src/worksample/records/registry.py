"""Registry of the kinds of records, and reading of a record from its stored form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import REGISTRY, Record

__all__ = ["REGISTRY", "from_envelope"]


def from_envelope(data: Mapping[str, Any]) -> Record:
    """Read a stored record. Raises ValueError for an unknown kind or a schema newer than this version knows."""
    kind, schema = data.get("kind"), data.get("schema")
    cls = REGISTRY.get(str(kind))
    if cls is None:
        raise ValueError(f"unknown kind of record: {kind!r}")
    if not isinstance(schema, int) or schema > cls.schema_version:
        raise ValueError(f"{kind} record of schema {schema!r}; this version reads up to {cls.schema_version}")
    return cls.model_validate(cls.upgraded(data["body"], schema))
