"""Functions that open stores and task packages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worksample.store import Store
    from worksample.tasks import Package

    Where = Store | str | Path | None


def open_store(where: str | Path | None = None, *, create: bool = False) -> Store:
    """Open the store in a folder or at an fsspec URL, for a `with`; default: `$WORKSAMPLE_STORE`, else `./.worksample`.

    `create`: create the store if it is missing. Raises StoreError if it is missing otherwise.
    """
    from worksample.store import Store

    return Store.open(where, create=create)


def task(folder: str | Path) -> Package:
    """Read the task package in a folder. Raises ManifestError with every fault of every file."""
    from worksample.tasks import read_package

    return read_package(Path(folder))


@contextmanager
def use_store(where: Where, *, create: bool = False) -> Iterator[Store]:
    """Open a store for a `with`; a store that is already open is used and stays open."""
    from worksample.store import Store

    if isinstance(where, Store):
        yield where
        return
    with open_store(where, create=create) as store:
        yield store


def place_of(where: Where) -> str | None:
    """Return a store in the form of an experiment's settings: its folder or URL."""
    from worksample.store import Store

    if where is None:
        return None
    return where.name if isinstance(where, Store) else str(where)
