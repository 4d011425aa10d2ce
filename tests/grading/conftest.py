"""Inspect leaves streams for the garbage collector, and plugins of others warn while they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

FOREIGN = ("ignore::ResourceWarning", "ignore::DeprecationWarning")
ASKING = ("test_judges.py", "test_asks.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only what comes from other packages is let pass, and only where models are asked."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.path.name in ASKING:
            for rule in FOREIGN:
                item.add_marker(pytest.mark.filterwarnings(rule))
