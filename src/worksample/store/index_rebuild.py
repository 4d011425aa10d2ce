"""Updates of the index: add the objects that the database lacks, or rebuild the whole index from all objects."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select

from worksample.records import now

from . import index, schema
from .commit_objects import BrokenObject, Committed, Objects, hour_of
from .database import Database, Rivals

_READERS = 16
"""Number of objects that are read at the same time. It is greater than one because remote storage answers slowly."""
_MARGIN = timedelta(days=1)
"""Time before the last sync from which objects are checked again. It allows for a wrong clock of a writing machine, and
for slow writes.
"""
_LAST = "synced"


class IndexRebuild:
    def __init__(self, database: Database, objects: Objects) -> None:
        self._database, self._objects = database, objects

    def sync(self, *, whole: bool) -> int:
        """Index the objects that the database lacks. `Store.sync` describes the arguments and the result."""
        began = now()
        with self._database.reading() as connection:
            known = set(connection.execute(select(schema.commits.c.digest)).scalars())
            last = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == _LAST)).scalar()
        since = "" if whole or last is None else hour_of(datetime.fromisoformat(last) - _MARGIN)
        missing = [(digest, path) for digest, path in self._objects.all(since).items() if digest not in known]
        count = sum(self._replay(dict(some)) for some in index.chunks(missing))
        if last is None or hour_of(datetime.fromisoformat(last)) < hour_of(began):
            with self._database.writing(Rivals.LEASES) as connection:
                _note(connection, began)
        return count

    def reindex(self) -> int:
        """Empty the index and rebuild it from all objects. Return the number of records."""
        began, paths, count = now(), list(self._objects.all().items()), 0
        with self._database.writing(Rivals.LEASES) as connection:
            index.clear(connection)
            for some in index.chunks(paths):
                count += index.apply(connection, self._read_objects(dict(some)))
            _note(connection, began)
        return count

    def _replay(self, paths: Mapping[str, str]) -> int:
        commits = self._read_objects(paths)
        with self._database.writing(Rivals.LEASES) as connection:
            return index.apply(connection, [c for c in commits if not index.is_known(connection, c.digest)])

    def _read_objects(self, paths: Mapping[str, str]) -> list[Committed]:
        try:
            with ThreadPoolExecutor(_READERS if self._objects.remote else 1) as readers:
                return list(readers.map(self._objects.read, paths, paths.values()))
        except BrokenObject as e:
            raise BrokenObject(
                f"a stored object is broken: {e.what}", where=e.where, next="worksample store check"
            ) from e


def _note(connection: Connection, began: datetime) -> None:
    connection.execute(delete(schema.meta).where(schema.meta.c.key == _LAST))
    connection.execute(schema.meta.insert().values(key=_LAST, value=began.isoformat()))
