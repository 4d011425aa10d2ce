"""Agents of Python whose own code cancels tasks, or leaves by what is no ordinary error."""

from __future__ import annotations

import asyncio
import sys

import anyio

from worksample.agents.python_agent_assignment import Assignment


async def cancels_itself(assignment: Assignment) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(5)


async def cancels_itself_and_returns(assignment: Assignment) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


async def cancels_all_others(assignment: Assignment) -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.sleep(5)


async def cancels_all_others_one_by_one(assignment: Assignment) -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        try:
            task.cancel()
        except Exception:  # noqa: BLE001 - such an agent lets nothing stop it
            continue
    await asyncio.sleep(0.2)
    raise RuntimeError("went on")


async def cancels_all_from_a_task(assignment: Assignment) -> None:
    await asyncio.create_task(cancels_all_others(assignment))


async def ends_a_generator(assignment: Assignment) -> None:
    raise GeneratorExit


async def interrupts(assignment: Assignment) -> None:
    raise KeyboardInterrupt


async def interrupts_in_a_task(assignment: Assignment) -> None:
    await asyncio.create_task(interrupts(assignment))


async def exits_in_a_group(assignment: Assignment) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(_exit)


async def _exit() -> None:
    sys.exit(4)


async def raises_a_cancellation(assignment: Assignment) -> None:
    raise asyncio.CancelledError("mine")


async def cancels_a_scope_of_its_own(assignment: Assignment) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await anyio.sleep(5)


async def waits(assignment: Assignment) -> None:
    await asyncio.sleep(0.8)


async def waits_for_ever(assignment: Assignment) -> None:
    await asyncio.sleep(600)
