"""Separate processes for untrusted input: results come back, and forbidden actions end the process alone."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from worksample.errors import ForeignInputError, ForeignWorkLost
from worksample.files.untrusted import WorkerPool

READ, EVAL = "worksample.files.untrusted.json_limits:read_json", "builtins:eval"


@pytest.fixture
def apart() -> Iterator[WorkerPool]:
    made = WorkerPool(most=1, seconds=1)
    yield made
    made.close()


async def test_work_is_done_in_another_process_and_refused_as_here(apart: WorkerPool) -> None:
    assert await apart.run(READ, b'{"a": [1]}') == {"a": [1]}
    pid = await apart.run(EVAL, b"__import__('os').getpid()")
    assert pid != os.getpid()
    with pytest.raises(ForeignInputError, match="128 levels") as caught:
        await apart.run(READ, b"[" * 200)
    assert caught.value.too_large
    assert await apart.run(EVAL, b"__import__('os').getpid()") == pid


async def test_too_long_or_too_large_work_is_refused(apart: WorkerPool) -> None:
    with pytest.raises(ForeignInputError, match="more than 1 s of processor time"):
        await apart.run(EVAL, b"sum(range(10**10))")
    with pytest.raises(ForeignInputError, match="more memory"):
        await apart.run(EVAL, b"'x' * (8 << 30)")
    assert await apart.run(EVAL, b"1 + 1") == 2


async def test_killed_process_is_no_fault_of_its_input(apart: WorkerPool) -> None:
    with pytest.raises(ForeignWorkLost, match="status -9"):
        await apart.run(EVAL, b"__import__('os').kill(__import__('os').getpid(), 9)")
    with pytest.raises(ForeignWorkLost, match="ZeroDivisionError"):
        await apart.run(EVAL, b"1 / 0")
    assert await apart.run(EVAL, b"print('noise') or 3") == 3


async def test_close_ends_work_in_progress(apart: WorkerPool) -> None:
    pid = await apart.run(EVAL, b"__import__('os').getpid()")
    work = asyncio.create_task(apart.run(EVAL, b"__import__('time').sleep(600)"))
    while Path(f"/proc/{pid}/wchan").exists() and "sleep" not in Path(f"/proc/{pid}/wchan").read_text():
        await asyncio.sleep(0.01)
    apart.close()
    with suppress(ForeignWorkLost):
        await work
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)
