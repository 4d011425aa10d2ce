"""What all records share: frozen, typed, and written as canonical JSON with a schema version."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def canonical(value: object) -> bytes:
    """The one byte form of a JSON value: sorted keys, no space, ASCII, finite numbers. ValueError on NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest_of(value: object) -> str:
    """SHA-256 of the canonical form, in hex (64 characters)."""
    return hashlib.sha256(canonical(value)).hexdigest()


def digest_bytes(data: bytes) -> str:
    """SHA-256 of bytes, in hex (64 characters)."""
    return hashlib.sha256(data).hexdigest()


def now() -> datetime:
    """The current time, in UTC, to the millisecond: what every record is stamped with."""
    t = datetime.now(UTC)
    return t.replace(microsecond=t.microsecond // 1000 * 1000)


def _in_utc(t: datetime) -> datetime:
    if t.tzinfo is None:
        raise ValueError("a time needs its zone")
    return t.astimezone(UTC)


Moment = Annotated[datetime, AfterValidator(_in_utc)]


class Frozen(BaseModel):
    """A value without identity of its own. Unknown keys are refused, numbers are finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="null")

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return self.model_dump(mode="json")

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical form."""
        return digest_of(self.plain())

    def replaced(self, **changes: Any) -> Self:
        """A checked copy with some fields changed."""
        return type(self).model_validate({**self.__dict__, **changes})


def omittable(default: Any, **constraints: Any) -> Any:
    """Return a field that the stored form omits if it has its default.

    A field that came later is written this way, so that older records keep their bytes and digests. `constraints` are
    those of pydantic's `Field`.
    """
    return Field(default=default, exclude_if=lambda value: bool(value == default), **constraints)


class Record(Frozen):
    """A row of evidence: written once, never changed. `id` is its identity within its kind."""

    kind: ClassVar[str]
    schema_version: ClassVar[int] = 1

    id: str

    @classmethod
    def upgraded(cls, body: dict[str, Any], schema: int) -> dict[str, Any]:
        """A body of an older schema in the form of this one."""
        return body

    def envelope(self) -> dict[str, Any]:
        """The stored form: `{"kind", "schema", "body"}`."""
        return {"kind": self.kind, "schema": self.schema_version, "body": self.plain()}


R = TypeVar("R", bound=Record)

REGISTRY: dict[str, type[Record]] = {}


def register(cls: type[R]) -> type[R]:
    """Class decorator: makes a kind of record readable from its envelope."""
    REGISTRY[cls.kind] = cls
    return cls
