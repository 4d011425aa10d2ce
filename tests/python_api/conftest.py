"""Inspect leaves streams for the garbage collector, and plugins of others warn while they are found."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

FOREIGN = (
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "ignore::DeprecationWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only what comes from other packages is let pass, and only here."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            for rule in FOREIGN:
                item.add_marker(pytest.mark.filterwarnings(rule))


@pytest.fixture(autouse=True)
def swept() -> Iterator[None]:
    """What Inspect left is collected while its warnings are still let pass."""
    yield
    gc.collect()
