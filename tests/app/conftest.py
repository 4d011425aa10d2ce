"""The tests on PostgreSQL need a server's programs, so they run where they are asked for: `pytest -m postgres`."""

from store.conftest import pytest_collection_modifyitems

__all__ = ["pytest_collection_modifyitems"]
