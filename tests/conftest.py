"""What all tests share: properties are never timed, for a busy machine proves nothing; the longest tests come first."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("worksample", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("worksample")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One of minutes that begins last keeps one process at work while the others have nothing left to do."""
    items.sort(key=lambda item: -_seconds(item))


def _seconds(item: pytest.Item) -> float:
    mark = item.get_closest_marker("long")
    return float(mark.kwargs.get("seconds", 0)) if mark is not None else 0.0
