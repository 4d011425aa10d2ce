"""The base of all records: frozen, typed, and written as canonical JSON with a schema version."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def canonical(value: object) -> bytes:
    """Return the canonical bytes of a JSON value: sorted keys, no spaces, ASCII, finite numbers. Raises ValueError for
    NaN.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest_of(value: object) -> str:
    """Return the SHA-256 of the canonical form, in hex (64 characters)."""
    return hashlib.sha256(canonical(value)).hexdigest()


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hex (64 characters)."""
    return hashlib.sha256(data).hexdigest()


def now() -> datetime:
    """Return the current time in UTC, to the millisecond, as records are stamped."""
    t = datetime.now(UTC)
    return t.replace(microsecond=t.microsecond // 1000 * 1000)


def _in_utc(t: datetime) -> datetime:
    if t.tzinfo is None:
        raise ValueError("a time needs a time zone")
    return t.astimezone(UTC)


Moment = Annotated[datetime, AfterValidator(_in_utc)]


class Frozen(BaseModel):
    """An immutable value without an identity. Unknown keys are rejected, and numbers must be finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="null")

    def plain(self) -> dict[str, Any]:
        """Return the value as JSON types."""
        return self.model_dump(mode="json")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the canonical form."""
        return digest_of(self.plain())

    def replaced(self, **changes: Any) -> Self:
        """Return a validated copy with some fields changed."""
        return type(self).model_validate({**self.__dict__, **changes})


def omittable(default: Any, **constraints: Any) -> Any:
    """Return a field that the stored form omits if it has its default.

    Fields that were added later are declared this way, so that older records keep their bytes and digests.
    `constraints` are those of pydantic's `Field`.
    """
    return Field(default=default, exclude_if=lambda value: bool(value == default), **constraints)


class Record(Frozen):
    """A piece of evidence: written once, never changed. `id` identifies it within its kind."""

    kind: ClassVar[str]
    schema_version: ClassVar[int] = 1

    id: str

    @classmethod
    def upgrade(cls, body: dict[str, Any], schema: int) -> dict[str, Any]:
        """Convert a body of an older schema to the current one."""
        return body

    def envelope(self) -> dict[str, Any]:
        """Return the stored form: `{"kind", "schema", "body"}`."""
        return {"kind": self.kind, "schema": self.schema_version, "body": self.plain()}


R = TypeVar("R", bound=Record)

REGISTRY: dict[str, type[Record]] = {}


def register(cls: type[R]) -> type[R]:
    """Register a class of records, so that it can be read from its envelope. Used as a decorator."""
    REGISTRY[cls.kind] = cls
    return cls


def from_envelope(data: Mapping[str, Any]) -> Record:
    """Read a stored record. Raises ValueError for an unknown kind or a schema newer than this version knows."""
    kind, schema = data.get("kind"), data.get("schema")
    cls = REGISTRY.get(str(kind))
    if cls is None:
        raise ValueError(f"unknown kind of record: {kind!r}")
    if not isinstance(schema, int) or schema > cls.schema_version:
        raise ValueError(f"{kind} record of schema {schema!r}; this version reads up to {cls.schema_version}")
    return cls.model_validate(cls.upgrade(data["body"], schema))
