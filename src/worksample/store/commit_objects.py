"""Objects: the source of truth of a store. Each commit writes one object, a canonical JSON file named by its digest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from worksample.errors import RecordMissing, StoreError
from worksample.records import Record, canonical, digest_bytes, from_envelope, now

from .storage_backend import FileBackend, RemotePlace

FORMAT = 1
_NAME = re.compile(r"^records/(?P<hour>\d{4}-\d\d-\d\dT\d\d|[0-9a-f]{2})/(?P<digest>[0-9a-f]{64})\.json$")
"""Pattern of the path of an object. In older stores, the folder is named by the first two digits of the digest instead
of the hour.
"""
_HOUR = "%Y-%m-%dT%H"


@dataclass(frozen=True, slots=True)
class Committed:
    """Content of one object: its records, and the time at which it was written."""

    digest: str
    at: datetime
    records: tuple[Record, ...]


class BrokenObject(StoreError):
    """File in the folders of objects that cannot be read as an object."""


def hour_of(moment: datetime) -> str:
    """Return the name of the folder for objects that are written at this time."""
    return moment.astimezone(UTC).strftime(_HOUR)


def draft(records: Iterable[Record]) -> tuple[Committed, bytes]:
    """Return a new object with these records and the present time, together with its bytes. Nothing is written."""
    return pack(now(), records)


def pack(at: datetime, records: Iterable[Record]) -> tuple[Committed, bytes]:
    """Return the object with these records and this time, together with its bytes."""
    records = tuple(records)
    data = canonical({"format": FORMAT, "at": at.isoformat(), "records": [r.envelope() for r in records]})
    return Committed(digest_bytes(data), at, records), data


def parse(digest: str, data: bytes, where: str) -> Committed:
    """Parse the bytes of an object. Raises BrokenObject if the bytes do not match the digest, or if this version of the
    package cannot read them.
    """
    if digest_bytes(data) != digest:
        raise BrokenObject(
            "the object is damaged: its content does not match its name",
            where=where,
            next="restore it from a copy, or remove it",
        )
    try:
        plain = json.loads(data)
        if plain["format"] > FORMAT:
            raise BrokenObject(
                f"the object was written in format {plain['format']}, which this version cannot read",
                where=where,
                next="pip install --upgrade worksample",
            )
        records = tuple(from_envelope(e) for e in plain["records"])
        return Committed(digest, datetime.fromisoformat(plain["at"]), records)
    except (ValueError, KeyError, TypeError) as e:
        text = str(e).splitlines()[0]
        raise BrokenObject(
            f"the object cannot be read: {text}", where=where, next="pip install --upgrade worksample"
        ) from e


class Objects:
    """Files of all objects, at `records/<hour>/<digest>.json`. The hour is the time of writing, so that recent objects
    are found without listing all folders.
    """

    def __init__(self, place: FileBackend) -> None:
        self.place = place
        self.remote = isinstance(place, RemotePlace)

    def write(self, digest: str, data: bytes) -> str:
        """Write an object atomically and durably, and return its path. Raises StoreFull if the disk is full, and
        StoreError for other failures.
        """
        path = f"records/{hour_of(now())}/{digest}.json"
        self.place.write(path, data)
        return path

    def remove(self, path: str) -> None:
        """Remove the file of an object. Only for objects that no other process has read."""
        self.place.remove(path)

    def all(self, since: str = "") -> dict[str, str]:
        """Return the path of every object, by digest. With `since`, return only objects that were written in this hour
        or later. Other files are ignored.
        """
        found = dict[str, str]()
        folders = [f for f in self.place.folders("records") if len(f) == len(since) and f >= since] if since else [""]
        for folder in folders:
            for path in self.place.list(f"records/{folder}".rstrip("/")):
                if name := _NAME.match(path):
                    found.setdefault(name["digest"], path)
        return found

    def digests(self) -> list[str]:
        """Return the digests of all objects, sorted."""
        return sorted(self.all())

    def read(self, digest: str, path: str) -> Committed:
        """Read an object. Raises BrokenObject if the file is not an intact object, and RecordMissing if the file does
        not exist.
        """
        where = f"{self.place.name}/{path}"
        try:
            return parse(digest, self.place.read(path), where)
        except FileNotFoundError as e:
            raise RecordMissing(
                "this object is missing from the store", where=where, next="worksample store check"
            ) from e

    def strays(self) -> Iterator[str]:
        """Yield the files in the folders of objects that do not have a name of an object."""
        return (p for p in self.place.list("records") if not _NAME.match(p))
