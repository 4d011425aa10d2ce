"""Stalls of the platform are reported within trials, and not while the engine loads."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runs.material import setting
from worksample.agents.agent_definition import define
from worksample.agents.python_agent_assignment import Assignment
from worksample.experiments.experiment_runner import _note
from worksample.experiments.run_listener import SilentListener
from worksample.stall_tolerant_loop import Stall, run_steadily

BEFORE, WITHIN = 0.6, 0.9


async def holder(work: Assignment) -> None:
    """Holds the platform's loop for a while."""
    time.sleep(WITHIN)


class Noted(SilentListener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_stall_is_reported_by_its_seconds_within_trials() -> None:
    watch = Noted()
    for charged in (0.0, 4.0, 7.0):
        _note(watch, Stall(datetime.now(UTC), 60.0, 1.0, charged))
    assert watch.notes == ["the platform itself stalled for 7 s; no trial is charged for it"]


@pytest.mark.box
def test_stalls_before_a_trial_are_not_reported(tmp_path: Path) -> None:
    agent = define("x", harness="object", settings={"object": f"{__name__}:holder"})
    at, told = setting(tmp_path, agent=agent), list[Stall]()

    async def work() -> None:
        time.sleep(BEFORE)  # as the import of a library
        await at.run(tries=1)

    run_steadily(work(), told.append)
    charged = [stall for stall in told if stall.charged > 0.3]
    assert len(charged) == 1 and charged[0].charged <= charged[0].seconds
    early = [stall for stall in told if stall.at < charged[0].at]
    assert any(stall.seconds > 0.2 for stall in early)
    assert not any(stall.charged for stall in early)
