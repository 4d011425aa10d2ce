"""Work that depends on background services ends with the first failure of one."""

from __future__ import annotations

import asyncio

import pytest

from worksample.background_services import FailureSignal, supervise


async def test_supervise_returns_the_result_if_nothing_fails() -> None:
    signal = FailureSignal()

    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert await supervise(work()) == 7
    assert await supervise(work(), signal, FailureSignal()) == 7
    signal.fail(KeyError("later"))
    assert isinstance(signal.error, KeyError)


async def test_supervise_cancels_the_work_and_raises_the_first_failure() -> None:
    first, second, ended = FailureSignal(), FailureSignal(), []

    async def work() -> None:
        try:
            second.fail(ValueError("second"))
            second.fail(ValueError("ignored"))
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    with pytest.raises(ValueError, match="second"):
        await supervise(work(), first, second)
    assert ended == [True]


@pytest.mark.parametrize("overrules", [True, False])
async def test_supervise_raises_a_failure_over_a_result_only_if_it_overrules(overrules: bool) -> None:
    signal = FailureSignal(overrules=overrules)

    async def work() -> int:
        signal.fail(KeyError("refused"))
        return 7

    if overrules:
        with pytest.raises(KeyError):
            await supervise(work(), signal)
    else:
        assert await supervise(work(), signal) == 7


async def test_supervise_cancels_the_work_with_its_caller() -> None:
    ended: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    task = asyncio.create_task(supervise(work(), FailureSignal()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]
