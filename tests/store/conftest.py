"""The tests on PostgreSQL need a server's programs, so they run where they are asked for: `pytest -m postgres`."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "postgres" in config.option.markexpr:
        return
    wanted = [item for item in items if "postgres" not in item.keywords]
    config.hook.pytest_deselected(items=[item for item in items if "postgres" in item.keywords])
    items[:] = wanted
