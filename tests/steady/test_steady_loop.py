"""The loop's clock leaves out stalls of the platform, and no other time."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.stall_tolerant_loop import USUAL, Clocks, Stall, SteadyClock, run_steadily, stalled_seconds, steady_time

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class Machine:
    """Clocks that a test moves."""

    def __init__(self) -> None:
        self.awake = self.asleep = self.busy = 0.0

    @property
    def clocks(self) -> Clocks:
        return Clocks(
            lambda: self.awake,
            lambda: self.awake + self.asleep,
            lambda: self.busy,
            lambda: BEGAN + timedelta(seconds=self.awake + self.asleep),
        )


def test_missing_time_between_two_checks_is_left_out() -> None:
    machine, told = Machine(), list[Stall]()
    clock = SteadyClock(machine.clocks, told.append)
    machine.awake += 0.2
    assert clock.time() == pytest.approx(0.2)
    clock.look()
    machine.awake, machine.busy = machine.awake + 40.0, 39.0
    assert clock.time() == pytest.approx(0.2 + USUAL)
    clock.look()
    assert clock.time() == pytest.approx(0.2 + USUAL)
    (stall,) = told
    assert (stall.seconds, stall.processor) == (pytest.approx(40.0 - USUAL), 39.0)
    assert clock.stalled_seconds(BEGAN, BEGAN + timedelta(seconds=100)) == pytest.approx(40.0 - USUAL)
    assert clock.stalled_seconds(BEGAN, BEGAN + timedelta(seconds=20.2)) == pytest.approx(20 - USUAL)
    assert clock.stalled_seconds(BEGAN + timedelta(seconds=50), BEGAN + timedelta(seconds=60)) == 0


def test_stall_counts_its_share_of_counted_work() -> None:
    machine, told = Machine(), list[Stall]()
    clock = SteadyClock(machine.clocks, told.append)
    machine.awake += 10  # the engine is loaded
    clock.look()
    with clock.count_stalls():
        machine.awake += 20
        clock.look()
        machine.awake += 5
    machine.awake += 30  # the work ended in the midst of it
    clock.look()
    machine.awake += 40
    clock.look()
    assert [stall.charged for stall in told] == [0, pytest.approx(20 - USUAL), pytest.approx(5 - USUAL), 0]


def test_suspended_machine_stalls_by_wall_clock_only() -> None:
    machine, told = Machine(), list[Stall]()
    clock = SteadyClock(machine.clocks, told.append)
    machine.awake, machine.asleep = 0.1, 3600.0
    clock.look()
    assert clock.time() == pytest.approx(0.1)
    assert [stall.seconds for stall in told] == [pytest.approx(3600.0)]


@given(st.lists(st.tuples(st.floats(0, 100), st.booleans()), max_size=30))
def test_clock_never_goes_back_and_loses_nothing(steps: list[tuple[float, bool]]) -> None:
    machine = Machine()
    clock = SteadyClock(machine.clocks)
    last = clock.time()
    for seconds, looks in steps:
        machine.awake += seconds
        if looks:
            clock.look()
        assert last <= clock.time() <= machine.awake
        last = clock.time()
    clock.look()
    lost = sum(stall.seconds for stall in clock.stalls)
    assert clock.time() + lost == pytest.approx(machine.awake, abs=0.01 * len(steps) + 0.02)


def test_time_limit_survives_a_stall_and_expires_without_one() -> None:
    async def beside_a_stall(seconds: float) -> tuple[bool, float, float]:
        """Whether four short waits fit into 0.9 s, beside a callback that holds the loop."""
        asyncio.get_running_loop().call_later(0.1, time.sleep, seconds)
        begun, steady = datetime.now(UTC), steady_time()
        try:
            async with asyncio.timeout(0.9):
                for _ in range(4):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            return False, steady_time() - steady, stalled_seconds(begun, datetime.now(UTC))
        elsewhere = await asyncio.to_thread(lambda: (steady_time(), stalled_seconds(begun, datetime.now(UTC))))
        assert elsewhere[0] - steady < 1.5
        return True, steady_time() - steady, elsewhere[1]

    for seconds in (0.0, 2.0):
        fits, took, lost = run_steadily(beside_a_stall(seconds))
        assert fits and took < 1.5
        assert lost == pytest.approx(max(0.0, seconds - USUAL), abs=0.5)

    async def endless() -> None:
        async with asyncio.timeout(0.3):
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        run_steadily(endless())


STOPPED = """
import asyncio, sys, time
from datetime import UTC, datetime
from worksample.stall_tolerant_loop import run_steadily, stalled_seconds

async def main():
    begun = datetime.now(UTC)
    print("ready", flush=True)
    try:
        async with asyncio.timeout(1.5):
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    except TimeoutError:
        return print("timed out")
    print("in time" if stalled_seconds(begun, datetime.now(UTC)) > 1.5 else "not noted")

run_steadily(main())
"""


def test_stopped_process_is_not_charged() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(2.5)
    os.kill(process.pid, signal.SIGCONT)
    said, _ = process.communicate("go on\n")
    assert said == "in time\n"


async def test_without_a_steady_loop_machine_time_counts() -> None:
    assert stalled_seconds(BEGAN, datetime.now(UTC)) == 0
    assert abs(steady_time() - time.monotonic()) < 1
