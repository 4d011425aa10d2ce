"""What people do at the places of this process: sit down, start, pause, type, bring files, hand in."""

from __future__ import annotations

import asyncio
import time
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from worksample.errors import Cause, UsageError
from worksample.files.stray_files import is_litter
from worksample.records import (
    AssignmentAct,
    Ending,
    Evaluation,
    Manifest,
    Slot,
    Submission,
    Trial,
    TrialOutcome,
    Worker,
)
from worksample.results.assignments.assignment import Seat, SeatConflict, account_of, event_after, seat_of, take
from worksample.results.assignments.open_work import days_of
from worksample.results.assignments.turns import waits_for_person
from worksample.store import Store

from .hand_in import Handing, hand_in
from .open_workstations import OpenWorkstations, Sitting
from .task_box import WorkstationTask
from .terminal import Terminal
from .uploads import place_below
from .workstation import Workstation, is_empty

__all__ = ["Sitting", "Workstations", "submission_of"]

SAVE = 60.0
"""Seconds of work after which a sign of life is noted, with what there is by then."""
APART = 5.0
"""Seconds between two looks at the output for files that are brought; of what came since, the next sign of life."""
LARGEST = 256 << 20
"""Bytes of a file that can be had from a box."""
LONGEST = 20_000
"""Characters of what an agent is asked."""
DONE = TrialOutcome(ending=Ending.DONE)


class Workstations(OpenWorkstations):
    """Every verb takes who asks: SeatConflict where the place is not theirs, or not in a state for it."""

    # -- sitting down and up

    async def take(self, slot: str, who: Sitting) -> Seat:
        """Sit down, or sit there already."""

        def sit() -> Seat:
            found = self.store.get(Slot, slot)
            task = WorkstationTask.of(self.store, found)
            if self._judged(task, who.person):
                raise SeatConflict("you have judged work on this task", next="take another place")
            if not waits_for_person(self.store, task.experiment, found):
                raise SeatConflict("it is the agent's turn")
            return take(self.store, found, who.person, self.clock(), days_of(task.experiment))

        return await asyncio.to_thread(sit)

    def _judged(self, task: WorkstationTask, person: str) -> bool:
        """Whether the person has said something of other work on the same task, and so has seen how it is judged."""
        mine = account_of(person)
        said = self.store.find(Evaluation, instance=task.instance.id)
        return any(account_of(one.evaluator) == mine for one in said)

    async def start(self, slot: str, who: Sitting) -> Seat:
        """The time runs, and the box goes on; it is opened where it is not."""
        seat = await self._mine(slot, who)
        await self._not_others(slot, who.person)
        async with self._opening:
            workstation = self._open.get(slot)
            opened = None
            if workstation is None:
                workstation, opened = await self._sit(slot, who)
                self._open[slot] = workstation
        async with workstation.busy:
            seat = await self._mine(slot, who)
            workstation.heard = time.monotonic()
            await self._box(workstation, workstation.thaw())
            if seat.running:
                return seat
            return await workstation.note(
                seat, AssignmentAct.STARTED, self.clock(), until=self._until(workstation), output=opened
            )

    async def beat(self, slot: str, who: Sitting) -> Seat:
        """A sign of life. It is noted once a minute; whose time is up has handed in."""
        seat = await self._mine(slot, who)
        if not seat.running:
            return seat
        workstation = self._workstation(slot, seat)
        workstation.heard = time.monotonic()
        async with workstation.busy:
            seat, now = await self._mine(slot, who), self.clock()
            if workstation.task.seconds is not None and seat.seconds_at(now) >= workstation.task.seconds:
                reason = f"{workstation.task.seconds:g} seconds of work"
                over = TrialOutcome(ending=Ending.LIMIT, cause=Cause.LIMIT_TIME, reason=reason)
                await self._close(slot, workstation, seat, who, over)
                return await asyncio.to_thread(seat_of, self.store, slot)
            if workstation.unkept or (seat.last is not None and now - seat.last >= timedelta(seconds=SAVE)):
                seat = await self._keep(workstation, seat)
        return seat

    async def _keep(self, workstation: Workstation, seat: Seat) -> Seat:
        """Note a sign of life, with what lies in the output."""
        if not seat.running:
            return seat
        return await workstation.note(seat, AssignmentAct.WORKED, self.clock(), until=self._until(workstation))

    async def pause(self, slot: str, who: Sitting) -> Seat:
        """The time does not run, and nothing goes on in the box."""
        seat = await self._mine(slot, who)
        if not seat.running:
            return seat
        workstation = self._open.get(slot)
        if workstation is None:
            # The server was killed while the time ran: up to then it counts as the timer has it.
            return await self._write(event_after(seat, who.person, AssignmentAct.PAUSED, self.clock()))
        async with workstation.busy:
            seat = await self._mine(slot, who)
            if seat.running:
                seat = await workstation.note(seat, AssignmentAct.PAUSED, self.clock(), until=self._until(workstation))
                await self._box(workstation, workstation.freeze())
        return seat

    async def leave(self, slot: str, who: Sitting, reason: str = "") -> Seat:
        """Stand up: the place is free for others, who begin anew."""
        return await self._end(slot, who, AssignmentAct.LEFT, note=reason)

    async def take_back(self, slot: str, by: str, reason: str) -> Seat:
        """An admin, whose account's name is `by`, has somebody stand up. What was made is kept as theirs; SeatConflict
        where nobody sits there.
        """

        def held() -> Seat:
            seat = seat_of(self.store, slot)
            if not seat.is_held(self.clock()):
                raise SeatConflict("this work is handed in" if seat.closed else "nobody has this place")
            return seat

        seat = await asyncio.to_thread(held)
        said = {"note": reason, "by": by}
        workstation = self._open.get(slot)
        if workstation is None:
            return await self._write(event_after(seat, seat.person, AssignmentAct.TAKEN_BACK, self.clock(), **said))
        async with workstation.busy:
            seat = await workstation.note(await asyncio.to_thread(held), AssignmentAct.TAKEN_BACK, self.clock(), **said)
            await self._drop(slot)
        return seat

    async def ask(self, slot: str, who: Sitting, words: str) -> Seat:
        """Have the agent go on; the next run lets it. UsageError where there is none, or nothing is asked."""
        task = await asyncio.to_thread(lambda: WorkstationTask.of(self.store, self.store.get(Slot, slot)))
        if task.worker is not Worker.ASSISTED:
            raise UsageError("no agent works at this place")
        if not words.strip() or len(words) > LONGEST:
            raise UsageError(f"say what the agent is to do, in at most {LONGEST} characters")
        text = await asyncio.to_thread(self.store.blobs.put, words.encode("utf-8", "replace"))
        return await self._end(slot, who, AssignmentAct.ASKED, text=text)

    async def _end(self, slot: str, who: Sitting, act: AssignmentAct, **rest: str) -> Seat:
        seat = await self._mine(slot, who)
        workstation = self._open.get(slot)
        if workstation is None:
            return await self._write(event_after(seat, who.person, act, self.clock(), **rest))
        async with workstation.busy:
            seat = await workstation.note(await self._mine(slot, who), act, self.clock(), **rest)
            await self._drop(slot)
        return seat

    async def hand_in(self, slot: str, who: Sitting, *, empty: bool = False) -> Trial:
        """Hand in what lies in the output; twice is once. SeatConflict where nothing lies there, unless `empty`."""
        trials = await asyncio.to_thread(self._handed_in, slot, who)
        if trials is not None:
            return trials
        if slot not in self._open:
            await self.start(slot, who)
        workstation = self._open[slot]
        async with workstation.busy:
            seat = await self._mine(slot, who)
            if not empty and is_empty(await workstation.files()):
                raise SeatConflict("nothing lies in the output folder", next="hand in nothing, if you mean to")
            await self._box(workstation, workstation.thaw())
            return await self._close(slot, workstation, seat, who, DONE)

    def _handed_in(self, slot: str, who: Sitting) -> Trial | None:
        seat = seat_of(self.store, slot)
        if not seat.closed or account_of(seat.person) != account_of(who.person):
            return None
        return self.store.find(Trial, slot=slot, live=True)[0]

    async def _close(
        self, slot: str, workstation: Workstation, seat: Seat, who: Sitting, outcome: TrialOutcome
    ) -> Trial:
        handing = Handing(workstation.task, who.person, who.name, who.rate, self.clock(), outcome)
        log = workstation.terminal.log() if workstation.terminal else b""
        trial = await hand_in(self.store, workstation.box, seat, handing, log)
        await self._drop(slot)
        return trial

    # -- what lies in the box

    @asynccontextmanager
    async def _working(self, slot: str, who: Sitting) -> AsyncIterator[Workstation]:
        """The workstation while the time runs."""
        seat = await self._mine(slot, who)
        if not seat.running:
            raise SeatConflict("the time does not run", next="start it")
        workstation = self._workstation(slot, seat)
        workstation.heard = time.monotonic()
        yield workstation

    async def shell(self, slot: str, who: Sitting) -> Terminal:
        """The terminal."""
        async with self._working(slot, who) as workstation, workstation.busy:
            return await workstation.shell()

    async def watched(self, slot: str, who: Sitting) -> Terminal | None:
        """The terminal; None where the time does not run, which a page learns a moment after. SeatConflict."""
        seat = await asyncio.to_thread(seat_of, self.store, slot)
        if account_of(seat.person) != account_of(who.person):
            raise SeatConflict("this place is not yours")
        if not seat.running or slot not in self._open:
            return None
        try:
            return await self.shell(slot, who)
        except SeatConflict:
            return None  # it was paused, or handed in, just now

    async def files(self, slot: str, who: Sitting) -> Manifest:
        """What lies in the output of an own place: now, or when it was last noted where the box is not open."""
        seat = await asyncio.to_thread(seat_of, self.store, slot)
        if account_of(seat.person) != account_of(who.person):
            raise SeatConflict("this place is not yours")
        workstation = self._open.get(slot)
        if workstation is not None and not seat.closed:
            async with workstation.busy:
                if slot in self._open:
                    return await workstation.files()
            seat = await asyncio.to_thread(seat_of, self.store, slot)
        return await asyncio.to_thread(self.store.manifest, seat.output) if seat.output else Manifest()

    async def upload(self, slot: str, who: Sitting, path: str, offset: int, piece: bytes, *, last: bool) -> bool:
        """A piece of a file for the output; whether the file is whole. UsageError for a path that leads elsewhere.

        What a desktop left beside the files of a folder that is sent up is not kept; names are kept composed.
        """
        path = unicodedata.normalize("NFC", path)
        async with self._working(slot, who) as workstation:
            if is_litter(path):
                return last
            whole = workstation.uploads.add(path, offset, piece, last=last)
            if whole is None:
                return False
            async with workstation.busy:
                try:
                    await workstation.box.write(f"{workstation.box.config.output}/{path}", whole)
                except OSError as error:
                    raise UsageError(f"this file cannot be kept: {error.strerror or error}") from error
                workstation.unkept = True
                seat = await self._mine(slot, who)
                if seat.last is None or self.clock() - seat.last >= timedelta(seconds=APART):
                    await self._keep(workstation, seat)
            return True

    async def download(self, slot: str, who: Sitting, path: str) -> bytes:
        """A file of the output. UsageError where it cannot be read, or the path leads elsewhere."""
        async with self._working(slot, who) as workstation:
            place = place_below(workstation.box.config.output, path)
            try:
                return await workstation.box.read(place, LARGEST)
            except OSError as error:
                raise UsageError(f"this file cannot be read: {error.strerror or error}") from error

    async def remove(self, slot: str, who: Sitting, path: str) -> None:
        """Remove a file or folder of the output. UsageError where the path leads elsewhere."""
        async with self._working(slot, who) as workstation:
            await workstation.box.run(["rm", "-rf", "--", place_below(workstation.box.config.output, path)])


def submission_of(store: Store, trial: Trial) -> Submission:
    """What was handed in."""
    return store.find(Submission, trial=trial.id)[0]
