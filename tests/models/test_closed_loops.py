"""A loop that asked a judge is closed cleanly, and the next loop can ask again."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Callable

import pytest
import uvloop

from models.test_judge_questions import DATED, MODEL, Kept
from openai_server import judged, serving
from worksample.models import JudgeConfig, ModelRole, ModelService, ask_judge, close_models


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_loop_that_asked_leaves_nothing_open(factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def once(role: ModelRole) -> None:
        try:
            for _ in range(2):
                assert (await ask_judge(role, DATED))[0].value is True
        finally:
            await close_models()

    with serving([judged("yes", "to be paid by 3 May")]) as served, warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        role = ModelRole("judge", MODEL, JudgeConfig(model=MODEL), ModelService(args=served.args, retries=0), Kept())
        for _ in range(2):
            # uvloop says of an open connection that it is one, and then cannot be closed (`OSError: [Errno 16]`).
            with asyncio.Runner(loop_factory=factory) as runner:
                runner.run(once(role))
            gc.collect()
        assert len(served.requests) == 4
