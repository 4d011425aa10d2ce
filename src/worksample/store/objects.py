"""The truth: one canonical JSON object per commit, named by its own digest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from worksample.errors import RecordMissing, StoreError
from worksample.records import Record, canonical, digest_bytes, from_envelope, now

from .place import Place

FORMAT = 1
_NAME = re.compile(r"^records/([0-9a-f]{2})/(\1[0-9a-f]{62})\.json$")


@dataclass(frozen=True, slots=True)
class Committed:
    """What one object says."""

    digest: str
    at: datetime
    records: tuple[Record, ...]


class Broken(StoreError):
    """A file among the objects that is none."""


def object_path(digest: str) -> str:
    return f"records/{digest[:2]}/{digest}.json"


def draft(records: Iterable[Record]) -> tuple[Committed, bytes]:
    """A new object that holds `records`, stamped now, and its bytes."""
    at, records = now(), tuple(records)
    data = canonical({"format": FORMAT, "at": at.isoformat(), "records": [r.envelope() for r in records]})
    return Committed(digest_bytes(data), at, records), data


def parse(digest: str, data: bytes, where: str) -> Committed:
    """Read an object. Raises Broken where the bytes do not match the name, or say what this version cannot read."""
    if digest_bytes(data) != digest:
        raise Broken("its content does not match its name", where=where, next="restore it from a copy, or remove it")
    try:
        plain = json.loads(data)
        if plain["format"] > FORMAT:
            raise Broken(f"written in format {plain['format']}", where=where, next="pip install --upgrade worksample")
        records = tuple(from_envelope(e) for e in plain["records"])
        return Committed(digest, datetime.fromisoformat(plain["at"]), records)
    except (ValueError, KeyError, TypeError) as e:
        text = str(e).splitlines()[0]
        raise Broken(f"cannot be read: {text}", where=where, next="pip install --upgrade worksample") from e


class Objects:
    def __init__(self, place: Place) -> None:
        self.place = place

    def write(self, digest: str, data: bytes) -> None:
        """Atomic and durable. Raises StoreFull, StoreError."""
        self.place.write(object_path(digest), data)

    def read(self, digest: str) -> Committed:
        """Raises Broken, RecordMissing."""
        path = object_path(digest)
        where = f"{self.place.name}/{path}"
        try:
            return parse(digest, self.place.read(path), where)
        except FileNotFoundError as e:
            raise RecordMissing("the store lacks this object", where=where, next="worksample store check") from e

    def raw(self, digest: str) -> bytes:
        return self.place.read(object_path(digest))

    def digests(self) -> list[str]:
        """Every object's name, sorted; other files are passed over."""
        return [m.group(2) for p in self.place.list("records") if (m := _NAME.match(p))]

    def strays(self) -> Iterator[str]:
        """Files among the objects whose names no object has."""
        return (p for p in self.place.list("records") if not _NAME.match(p))
