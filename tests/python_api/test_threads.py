"""Work started from a script, from a thread with a loop, and from async code."""

from __future__ import annotations

import asyncio
import threading

import pytest

from worksample.experiments.run_interruption import Stop
from worksample.python_api.event_loops import call, call_async


def test_script_works_in_its_own_thread() -> None:
    assert call(lambda stop: threading.current_thread()) is threading.current_thread()


async def test_call_within_a_loop_runs_in_another_thread() -> None:
    async def answer() -> int:
        return 7

    assert call(lambda stop: asyncio.run(answer())) == 7
    assert await call_async(lambda stop: asyncio.run(answer())) == 7


async def test_failure_is_raised_unchanged() -> None:
    def work(stop: Stop) -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await call_async(work)


async def test_cancellation_requests_a_stop_and_waits_for_the_end() -> None:
    began, asked, ended = threading.Event(), threading.Event(), []

    def work(stop: Stop) -> None:
        stop.listen(asked.set)
        began.set()
        assert asked.wait(60)
        ended.append(True)

    task = asyncio.create_task(call_async(work))
    assert await asyncio.to_thread(began.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]


def test_stop_is_reported_once_and_to_late_listeners() -> None:
    told: list[int] = []
    stop = Stop()
    stop.listen(lambda: told.append(1))
    stop.ask()
    stop.ask()
    assert told == [1]
    late = Stop()
    late.ask()
    late.listen(lambda: told.append(2))
    assert told == [1, 2]


async def test_engine_thread_sees_no_kernel_and_the_notebook_does(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython

    kernel = object()
    monkeypatch.setattr(IPython, "get_ipython", lambda: kernel)
    seen: list[object] = []

    def work(stop: Stop) -> None:
        seen.append(IPython.get_ipython())
        loop.call_soon_threadsafe(lambda: seen.append(IPython.get_ipython()))

    loop = asyncio.get_running_loop()
    await asyncio.gather(call_async(work), call_async(work))
    await asyncio.sleep(0)
    assert seen.count(None) == 2 and seen.count(kernel) == 2
    assert IPython.get_ipython() is kernel


async def test_logged_traceback_is_not_shown_in_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect formats what an agent's function raised by a console of rich, which in a notebook shows all of it."""
    import builtins

    import IPython  # noqa: F401 - as in a notebook
    from inspect_ai._util.rich import format_traceback
    from rich.console import Console

    class ZMQInteractiveShell:
        """What rich knows a kernel by."""

    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    shown: list[object] = []
    monkeypatch.setattr("rich.jupyter.display", lambda *told: shown.append(told))

    def work(stop: Stop) -> str:
        try:
            raise RuntimeError("I lost my notes, in a notebook")
        except RuntimeError as error:
            return format_traceback(type(error), error, error.__traceback__)[1]

    assert "I lost my notes" in await call_async(work)
    assert not shown
    assert Console().is_jupyter
