"""A run that stood still for 45 s, and another that took its slots: both committed `done`."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.test_stopped_run import (
    test_stopped_run_leaves_its_slot_to_the_one_that_took_over as check_run,
)


def check(room: Path, request: pytest.FixtureRequest) -> None:
    check_run(room, "close.commit")
