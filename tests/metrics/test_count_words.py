"""Counts in words."""

from __future__ import annotations

import pytest

from worksample.metrics.counts import with_noun


@pytest.mark.parametrize(("number", "text"), [(0, "0 tasks"), (1, "1 task"), (3, "3 tasks")])
def test_one_task_is_singular(number: int, text: str) -> None:
    assert with_noun(number, "task") == text
