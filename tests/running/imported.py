"""What has been imported stays, so that no collection of garbage walks over it."""

from __future__ import annotations

import gc
import sys

import pytest

MANY = 150
"""So many modules more, and they are put aside, too."""
_KNOWN = pytest.StashKey[int]()


def put_aside(config: pytest.Config) -> None:
    """All that lives now is looked at for the last time."""
    config.stash[_KNOWN] = len(sys.modules)
    gc.collect()
    gc.freeze()


def pytest_collection_finish(session: pytest.Session) -> None:
    put_aside(session.config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Between two tests, for Inspect and polars are imported late."""
    if len(sys.modules) >= item.config.stash[_KNOWN] + MANY:
        put_aside(item.config)
