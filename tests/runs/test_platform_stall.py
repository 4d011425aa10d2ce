"""An honest agent during a platform stall keeps its time, and its service is not blamed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from openai_server import Answer, says, serving
from runs.material import setting
from runs.test_programs_and_gateway import program
from worksample.records import Ending, Limits
from worksample.stall_tolerant_loop import run_steadily

LIMIT, STALL = 6, 8.0


@pytest.mark.box
@pytest.mark.long(20)
def test_platform_stall_does_not_use_the_agents_time(tmp_path: Path) -> None:
    """The loop stands still while the agent waits for its model, for longer than the whole limit."""
    loops: list[asyncio.AbstractEventLoop] = []

    def answer(request: dict[str, Any], count: int) -> Answer:
        loops[0].call_soon_threadsafe(time.sleep, STALL)
        return says("done")

    async def work() -> None:
        loops.append(asyncio.get_running_loop())
        (trial,) = await at.run(tries=1, model_args=served.args)
        assert trial.outcome.ending is Ending.DONE, trial.outcome
        assert trial.phases["stall"] > STALL - 1
        assert trial.working_seconds < LIMIT
        assert trial.phases.get("service", 0.0) == 0.0

    with serving(answer) as served:
        at = setting(tmp_path, agent=program("chat"), limits=Limits(time=LIMIT, memory=512 << 20, disk=64 << 20))
        run_steadily(work())
