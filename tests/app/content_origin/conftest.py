"""A store for each test that starts boxes, one for all others of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.content_origin.hosts import Shelf
from app.content_origin.stage import stage

__all__ = ["stage"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    yield shelf
    shelf.close()


@pytest.fixture
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """Its own where boxes are started, for their work is bound to the test's loop."""
    if request.node.get_closest_marker("box") is None:
        yield request.getfixturevalue("shared")
        return
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()
