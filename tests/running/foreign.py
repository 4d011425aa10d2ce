"""What Inspect and plugins of others warn of is let pass where they are at work, and nowhere else.

Inspect leaves streams and loops for the garbage collector: they are collected before a test begins that lets no such
warning pass.
"""

from __future__ import annotations

import gc

import pytest

from running.profiles import root_of

RULES = (
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "ignore::DeprecationWarning",
)
PLACES = (
    "agents",
    "grading/test_asks.py",
    "grading/test_pairwise_judging.py",
    "grading/test_holistic_judging.py",
    "grading/test_judge_evaluators.py",
    "models",
    "python_api",
    "runs",
)
"""Folders and files of tests."""
_FOREIGN = pytest.StashKey[bool]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    places = [root_of(config) / place for place in PLACES]
    for item in items:
        if any(item.path.is_relative_to(place) for place in places):
            item.stash[_FOREIGN] = True
            for rule in RULES:
                item.add_marker(pytest.mark.filterwarnings(rule))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Only at the border: a collection after each test would take as long as many of them."""
    if _FOREIGN in item.stash and (nextitem is None or _FOREIGN not in nextitem.stash):
        gc.collect()
