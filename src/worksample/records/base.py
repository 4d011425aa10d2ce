"""Base classes of all records. Records are frozen and typed, and are written as canonical JSON with a schema
version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def canonical(value: object) -> bytes:
    """Return a JSON value as canonical bytes: sorted keys, no spaces, ASCII only. Raises ValueError for NaN and
    infinity.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest_of(value: object) -> str:
    """Return the SHA-256 of a JSON value's canonical bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of `data`, as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def now() -> datetime:
    """Return the current time in UTC, rounded down to the millisecond, which is the precision of times in records."""
    t = datetime.now(UTC)
    return t.replace(microsecond=t.microsecond // 1000 * 1000)


def _in_utc(t: datetime) -> datetime:
    if t.tzinfo is None:
        raise ValueError("a time needs a time zone")
    return t.astimezone(UTC)


Moment = Annotated[datetime, AfterValidator(_in_utc)]


class Frozen(BaseModel):
    """Base class of immutable values without an id. Unknown keys are rejected, and numbers must be finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="null")

    def plain(self) -> dict[str, Any]:
        """Return the value as JSON types: dicts, lists, texts, numbers, booleans and None."""
        return self.model_dump(mode="json")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the value's canonical JSON, as 64 hexadecimal digits."""
        return digest_of(self.plain())

    def replaced(self, **changes: Any) -> Self:
        """Return a copy with some fields changed. The copy is validated."""
        return type(self).model_validate({**self.__dict__, **changes})


def omittable(default: Any, **constraints: Any) -> Any:
    """Declare a field that is left out of the stored form if it has its default value.

    Fields that were added in later versions are declared with this function, so that older records keep their bytes and
    digests. `constraints` are passed to pydantic's `Field`.
    """
    return Field(default=default, exclude_if=lambda value: bool(value == default), **constraints)


class Record(Frozen):
    """Base class of stored evidence. A record is written once and never changed. `id` is unique among records of the
    same kind.
    """

    kind: ClassVar[str]
    schema_version: ClassVar[int] = 1

    id: str

    @classmethod
    def upgrade(cls, body: dict[str, Any], schema: int) -> dict[str, Any]:
        """Convert a stored body from an older schema version to the current one."""
        return body

    def envelope(self) -> dict[str, Any]:
        """Return the stored form of the record: `{"kind": ..., "schema": ..., "body": {...}}`."""
        return {"kind": self.kind, "schema": self.schema_version, "body": self.plain()}


R = TypeVar("R", bound=Record)

REGISTRY: dict[str, type[Record]] = {}


def register(cls: type[R]) -> type[R]:
    """Register a class of records, so that `from_envelope` can read its records. Used as a decorator."""
    REGISTRY[cls.kind] = cls
    return cls


def from_envelope(data: Mapping[str, Any]) -> Record:
    """Read a record from its stored form. Raises ValueError if the kind is unknown, or if the schema is newer than this
    version of the platform.
    """
    kind, schema = data.get("kind"), data.get("schema")
    cls = REGISTRY.get(str(kind))
    if cls is None:
        raise ValueError(f"unknown kind of record: {kind!r}")
    if not isinstance(schema, int) or schema > cls.schema_version:
        raise ValueError(f"{kind} record of schema {schema!r}; this version reads up to {cls.schema_version}")
    return cls.model_validate(cls.upgrade(data["body"], schema))
