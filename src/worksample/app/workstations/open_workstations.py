"""The boxes that are open in this process, each under a lease; idle ones are paused and closed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from worksample.errors import SandboxError, StoreError, UsageError
from worksample.records import AssignmentAct, AssignmentEvent, Slot
from worksample.results.assignments.assignment import (
    GAP,
    AssignmentConflict,
    SlotAssignment,
    account_of,
    assignment_of,
    commit_event,
)
from worksample.results.assignments.human_slots import days_of
from worksample.results.assignments.shared_slot_turns import waits_for_person
from worksample.store import Store
from worksample.store.lease import Lease
from worksample.store.lease_owner import is_dead, new_owner

from .workstation import Workstation
from .workstation_box import WorkstationTask, open_box_of

IDLE = 1800.0
"""Seconds without a heartbeat after which a box is closed. Reopening restores the person's files."""
LEASE = 60.0
LOOK = 15.0
"""Seconds between two checks of the heartbeats."""


@dataclass(frozen=True)
class PersonAtWork:
    """A person who works: id of the Evaluator record, the account's name, US dollars per hour or None."""

    person: str
    name: str
    rate: float | None


class OpenWorkstations:
    """The open boxes by slot. `clock`: the current time. All calls belong to the server's event loop."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self.store, self.clock = store, clock
        self._open: dict[str, Workstation] = {}
        self._opening = asyncio.Lock()
        self._owner = new_owner()
        self._leases: dict[str, Lease] = {}
        """Leases of the slots whose boxes are open or being opened."""
        self._watch: asyncio.Task[None] | None = None

    async def _own_assignment(self, slot: str, who: PersonAtWork) -> SlotAssignment:
        def look() -> SlotAssignment:
            assignment = assignment_of(self.store, slot)
            if assignment.closed:
                raise AssignmentConflict("this work was handed in", next="take other work")
            if assignment.taken_back and account_of(assignment.person) == account_of(who.person):
                raise AssignmentConflict(
                    f"an admin took this work back: {assignment.taken_back}", next="take it again, or another one"
                )
            if not assignment.is_of(who.person, self.clock()):
                raise AssignmentConflict("this work is not assigned to you", next="take it first")
            found = self.store.get(Slot, slot)
            if not waits_for_person(self.store, WorkstationTask.of(self.store, found).experiment, found):
                raise AssignmentConflict(
                    "it is the agent's turn", next="wait until the agent has ended, or take other work"
                )
            return assignment

        return await asyncio.to_thread(look)

    def _workstation(self, slot: str, assignment: SlotAssignment) -> Workstation:
        if slot not in self._open:
            raise AssignmentConflict("the box was closed", next="start the timer: your files are restored")
        return self._open[slot]

    async def _open_workstation(self, slot: str, who: PersonAtWork) -> tuple[Workstation, str]:
        key = f"workstation:{slot}"

        def lease() -> WorkstationTask:
            found = self.store.take(key, self._owner, LEASE)
            if found is None:
                holder = self.store.holder(key)
                if holder is not None and is_dead(holder):
                    self.store.expire(key, holder)
                found = self.store.take(key, self._owner, LEASE)
            if found is None:
                raise AssignmentConflict("another server has this box open", next="try again in a minute")
            self._leases[slot] = found
            return WorkstationTask.of(self.store, self.store.get(Slot, slot))

        task = await asyncio.to_thread(lease)
        try:
            box, digest = await open_box_of(self.store, task)
        except BaseException:
            await self._release(slot)
            raise
        return Workstation(self.store, task, box, who.person), digest

    async def _close_workstation(self, slot: str) -> None:
        workstation = self._open.pop(slot, None)
        if workstation is not None:
            await workstation.close()
            await self._release(slot)

    async def _release(self, slot: str) -> None:
        self._leases.pop(slot, None)
        await asyncio.to_thread(self.store.release, f"workstation:{slot}", self._owner)

    async def _close_if_reassigned(self, slot: str, person: str) -> None:
        """Close the box of a slot that has passed to another person, who must not see its files."""
        workstation = self._open.get(slot)
        if workstation is None:
            return
        async with workstation.busy:
            assignment = await asyncio.to_thread(assignment_of, self.store, slot)
            gone = account_of(workstation.person) != account_of(person) or not assignment.is_of(
                workstation.person, self.clock()
            )
            if gone and not assignment.closed and self._open.get(slot) is workstation:
                await self._close_workstation(slot)

    async def _run_in_box(self, workstation: Workstation, act: object) -> None:
        """Await an action on the box; close a box that was lost, so that it is opened anew."""
        try:
            await act  # type: ignore[misc]
        except SandboxError:
            await self._close_workstation(workstation.task.slot.id)
            raise

    def _assignment_end(self, workstation: Workstation) -> datetime:
        return self.clock() + timedelta(days=days_of(workstation.task.experiment))

    async def _write(self, event: AssignmentEvent) -> SlotAssignment:
        return await asyncio.to_thread(commit_event, self.store, event)

    # -- missing heartbeats

    def begin(self) -> None:
        """Watch the workstations until `stop`."""
        self._watch = asyncio.create_task(self._watch_workstations())

    async def _watch_workstations(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            for slot in tuple(self._open):
                # A busy store is tried again at the next check.
                with contextlib.suppress(StoreError, SandboxError, UsageError):
                    if (lease := self._leases.get(slot)) is not None:
                        await asyncio.to_thread(self.store.keep, lease, LEASE)
                    await self.check_workstation(slot, time.monotonic())

    async def check_workstation(self, slot: str, now: float) -> None:
        """Pause a person without heartbeat; close a box that is idle or whose slot has passed to another person."""
        workstation = self._open.get(slot)
        if workstation is not None:
            await self._close_if_reassigned(slot, workstation.person)
            workstation = self._open.get(slot)
        if workstation is None or now - workstation.heard < GAP:
            return
        async with workstation.busy:
            assignment = await asyncio.to_thread(assignment_of, self.store, slot)
            if assignment.running:
                await workstation.note(assignment, AssignmentAct.PAUSED, self.clock(), note="nothing was heard")
                await workstation.freeze()
            if now - workstation.heard >= IDLE:
                await self._close_workstation(slot)

    async def stop(self) -> None:
        """Pause everybody, record the outputs, and close the boxes."""
        if self._watch is not None:
            self._watch.cancel()
        for slot, workstation in tuple(self._open.items()):
            async with workstation.busy:
                with contextlib.suppress(StoreError, SandboxError):
                    assignment = await asyncio.to_thread(assignment_of, self.store, slot)
                    if assignment.running:
                        await workstation.note(
                            assignment, AssignmentAct.PAUSED, self.clock(), note="the server was stopped"
                        )
                await self._close_workstation(slot)
