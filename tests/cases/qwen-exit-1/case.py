"""A program starts itself again, the child is ended for want of memory, and the parent exits with 1: it was a crash."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runs.material import setting
from worksample.agents import define
from worksample.errors import Cause
from worksample.records import Limits

HUNGRY = "b = []\nwhile True: b.append(bytearray(b'x' * (8 << 20)))"


def check(room: Path, request: pytest.FixtureRequest) -> None:
    argv = ["sh", "-c", 'python3 -c "$0" || exit 1', HUNGRY]
    agent = define("program", harness="command", settings={"argv": argv})
    at = setting(room, agent=agent, limits=Limits(memory=256 << 20))
    (trial,) = asyncio.run(at.run(tries=1))
    assert trial.outcome.cause is Cause.LIMIT_MEMORY
