"""Stores and task packages, opened."""

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
    """The store in a folder or at an fsspec URL, for a `with`; by default `$WORKSAMPLE_STORE`, else `./.worksample`.

    `create` makes it where it is missing. StoreError where there is none.
    """
    from worksample.store import Store

    return Store.open(where, create=create)


def task(folder: str | Path) -> Package:
    """The task package in a folder. ManifestError with every fault of every file."""
    from worksample.tasks import read_package

    return read_package(Path(folder))


@contextmanager
def use_store(where: Where, *, create: bool = False) -> Iterator[Store]:
    """A store for a `with`: an open one is used as it is, and stays open."""
    from worksample.store import Store

    if isinstance(where, Store):
        yield where
        return
    with open_store(where, create=create) as store:
        yield store


def place_of(where: Where) -> str | None:
    """A store as an experiment's settings name it."""
    from worksample.store import Store

    if where is None:
        return None
    return where.name if isinstance(where, Store) else str(where)
