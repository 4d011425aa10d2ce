"""Actions of a person at a workstation: take work, start, pause, type, transfer files, hand in."""

from __future__ import annotations

import asyncio
import time
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from worksample.errors import Cause, UsageError
from worksample.files.stray_files import is_stray_file
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
from worksample.results.assignments.assignment import (
    AssignmentConflict,
    SlotAssignment,
    account_of,
    assignment_of,
    event_after,
    take_slot,
)
from worksample.results.assignments.human_slots import days_of
from worksample.results.assignments.shared_slot_turns import waits_for_person
from worksample.store import Store

from .hand_in import HandInDetails, hand_in
from .open_workstations import OpenWorkstations, PersonAtWork
from .terminal import Terminal
from .uploads import place_below
from .workstation import Workstation, is_empty
from .workstation_box import WorkstationTask

__all__ = ["PersonAtWork", "Workstations", "submission_of"]

SAVE = 60.0
"""Seconds of work after which a heartbeat is recorded together with the current output."""
APART = 5.0
"""Seconds between two captures of the output during uploads; the next heartbeat captures later files."""
LARGEST = 256 << 20
"""Most bytes of a file that can be downloaded from a box."""
LONGEST = 20_000
"""Most characters of a request to the agent."""
DONE = TrialOutcome(ending=Ending.DONE)


class Workstations(OpenWorkstations):
    """The workstations of a server process. Each method raises AssignmentConflict if the slot is not assigned to this
    person, or is not in the right state.
    """

    # -- taking and giving back

    async def take(self, slot: str, who: PersonAtWork) -> SlotAssignment:
        """Take a slot; if the person has it already, renew the lease."""

        def sit() -> SlotAssignment:
            found = self.store.get(Slot, slot)
            task = WorkstationTask.of(self.store, found)
            if self._has_judged_task(task, who.person):
                raise AssignmentConflict("you have judged work on this task", next="take other work")
            if not waits_for_person(self.store, task.experiment, found):
                raise AssignmentConflict(
                    "it is the agent's turn", next="wait until the agent has ended, or take other work"
                )
            return take_slot(self.store, found, who.person, self.clock(), days_of(task.experiment))

        return await asyncio.to_thread(sit)

    def _has_judged_task(self, task: WorkstationTask, person: str) -> bool:
        """Tell whether the person has judged other work on the task, and so knows how it is graded."""
        mine = account_of(person)
        said = self.store.find(Evaluation, instance=task.instance.id)
        return any(account_of(one.evaluator) == mine for one in said)

    async def start(self, slot: str, who: PersonAtWork) -> SlotAssignment:
        """Start the timer and resume the box; open the box if necessary."""
        assignment = await self._own_assignment(slot, who)
        await self._close_if_reassigned(slot, who.person)
        async with self._opening:
            workstation = self._open.get(slot)
            opened = None
            if workstation is None:
                workstation, opened = await self._open_workstation(slot, who)
                self._open[slot] = workstation
        async with workstation.busy:
            assignment = await self._own_assignment(slot, who)
            workstation.heard = time.monotonic()
            await self._run_in_box(workstation, workstation.thaw())
            if assignment.running:
                return assignment
            return await workstation.note(
                assignment, AssignmentAct.STARTED, self.clock(), until=self._assignment_end(workstation), output=opened
            )

    async def beat(self, slot: str, who: PersonAtWork) -> SlotAssignment:
        """Record a heartbeat, at most once a minute. If the time limit is reached, hand in."""
        assignment = await self._own_assignment(slot, who)
        if not assignment.running:
            return assignment
        workstation = self._workstation(slot, assignment)
        workstation.heard = time.monotonic()
        async with workstation.busy:
            assignment, now = await self._own_assignment(slot, who), self.clock()
            if workstation.task.seconds is not None and assignment.seconds_at(now) >= workstation.task.seconds:
                reason = f"{workstation.task.seconds:g} seconds of work"
                over = TrialOutcome(ending=Ending.LIMIT, cause=Cause.LIMIT_TIME, reason=reason)
                await self._close(slot, workstation, assignment, who, over)
                return await asyncio.to_thread(assignment_of, self.store, slot)
            if workstation.unkept or (assignment.last is not None and now - assignment.last >= timedelta(seconds=SAVE)):
                assignment = await self._keep(workstation, assignment)
        return assignment

    async def _keep(self, workstation: Workstation, assignment: SlotAssignment) -> SlotAssignment:
        """Record a heartbeat together with the current output."""
        if not assignment.running:
            return assignment
        return await workstation.note(
            assignment, AssignmentAct.WORKED, self.clock(), until=self._assignment_end(workstation)
        )

    async def pause(self, slot: str, who: PersonAtWork) -> SlotAssignment:
        """Stop the timer and freeze the box."""
        assignment = await self._own_assignment(slot, who)
        if not assignment.running:
            return assignment
        workstation = self._open.get(slot)
        if workstation is None:
            # The server was killed while the timer ran; the timer limits the time that counts.
            return await self._write(event_after(assignment, who.person, AssignmentAct.PAUSED, self.clock()))
        async with workstation.busy:
            assignment = await self._own_assignment(slot, who)
            if assignment.running:
                assignment = await workstation.note(
                    assignment, AssignmentAct.PAUSED, self.clock(), until=self._assignment_end(workstation)
                )
                await self._run_in_box(workstation, workstation.freeze())
        return assignment

    async def leave(self, slot: str, who: PersonAtWork, reason: str = "") -> SlotAssignment:
        """Give the slot back. Others may take it and start from the beginning."""
        return await self._end(slot, who, AssignmentAct.LEFT, note=reason)

    async def take_back(self, slot: str, by: str, reason: str) -> SlotAssignment:
        """Take a slot back from a person. `by`: the admin's account name. The person's output so far stays on record.

        Raises AssignmentConflict if nobody has the slot.
        """

        def current() -> SlotAssignment:
            assignment = assignment_of(self.store, slot)
            if not assignment.is_taken(self.clock()):
                raise AssignmentConflict(
                    "this work was handed in" if assignment.closed else "nobody has this work",
                    next="load the list anew",
                )
            return assignment

        assignment = await asyncio.to_thread(current)
        said = {"note": reason, "by": by}
        workstation = self._open.get(slot)
        if workstation is None:
            return await self._write(
                event_after(assignment, assignment.person, AssignmentAct.TAKEN_BACK, self.clock(), **said)
            )
        async with workstation.busy:
            assignment = await workstation.note(
                await asyncio.to_thread(current), AssignmentAct.TAKEN_BACK, self.clock(), **said
            )
            await self._close_workstation(slot)
        return assignment

    async def ask(self, slot: str, who: PersonAtWork, words: str) -> SlotAssignment:
        """Ask the agent to continue; the next run executes its turn. Raises UsageError without an agent or a
        request.
        """
        task = await asyncio.to_thread(lambda: WorkstationTask.of(self.store, self.store.get(Slot, slot)))
        if task.worker is not Worker.ASSISTED:
            raise UsageError("no agent works on this task", next="do the work yourself, then hand it in")
        if not words.strip() or len(words) > LONGEST:
            raise UsageError(
                f"a request to the agent must have 1 to {LONGEST} characters", next="write what the agent should do"
            )
        text = await asyncio.to_thread(self.store.blobs.put, words.encode("utf-8", "replace"))
        return await self._end(slot, who, AssignmentAct.ASKED, text=text)

    async def _end(self, slot: str, who: PersonAtWork, act: AssignmentAct, **rest: str) -> SlotAssignment:
        assignment = await self._own_assignment(slot, who)
        workstation = self._open.get(slot)
        if workstation is None:
            return await self._write(event_after(assignment, who.person, act, self.clock(), **rest))
        async with workstation.busy:
            assignment = await workstation.note(await self._own_assignment(slot, who), act, self.clock(), **rest)
            await self._close_workstation(slot)
        return assignment

    async def hand_in(self, slot: str, who: PersonAtWork, *, empty: bool = False) -> Trial:
        """Hand in the output. Idempotent. Raises AssignmentConflict if the output is empty, unless `empty`."""
        trials = await asyncio.to_thread(self._find_handed_in, slot, who)
        if trials is not None:
            return trials
        if slot not in self._open:
            await self.start(slot, who)
        workstation = self._open[slot]
        async with workstation.busy:
            assignment = await self._own_assignment(slot, who)
            if not empty and is_empty(await workstation.files()):
                raise AssignmentConflict(
                    "the output folder is empty", next="add files, or confirm that you hand in nothing"
                )
            await self._run_in_box(workstation, workstation.thaw())
            return await self._close(slot, workstation, assignment, who, DONE)

    def _find_handed_in(self, slot: str, who: PersonAtWork) -> Trial | None:
        assignment = assignment_of(self.store, slot)
        if not assignment.closed or account_of(assignment.person) != account_of(who.person):
            return None
        return self.store.find(Trial, slot=slot, live=True)[0]

    async def _close(
        self, slot: str, workstation: Workstation, assignment: SlotAssignment, who: PersonAtWork, outcome: TrialOutcome
    ) -> Trial:
        handing = HandInDetails(workstation.task, who.person, who.name, who.rate, self.clock(), outcome)
        log = workstation.terminal.log() if workstation.terminal else b""
        trial = await hand_in(self.store, workstation.box, assignment, handing, log)
        await self._close_workstation(slot)
        return trial

    # -- files in the box

    @asynccontextmanager
    async def _working(self, slot: str, who: PersonAtWork) -> AsyncIterator[Workstation]:
        """Yield the workstation while the timer runs."""
        assignment = await self._own_assignment(slot, who)
        if not assignment.running:
            raise AssignmentConflict("the timer is paused", next="start it")
        workstation = self._workstation(slot, assignment)
        workstation.heard = time.monotonic()
        yield workstation

    async def shell(self, slot: str, who: PersonAtWork) -> Terminal:
        """Return the terminal."""
        async with self._working(slot, who) as workstation, workstation.busy:
            return await workstation.shell()

    async def terminal_if_running(self, slot: str, who: PersonAtWork) -> Terminal | None:
        """Return the terminal; None if the timer does not run. Raises AssignmentConflict."""
        assignment = await asyncio.to_thread(assignment_of, self.store, slot)
        if account_of(assignment.person) != account_of(who.person):
            raise AssignmentConflict("this work is not assigned to you", next="take it first")
        if not assignment.running or slot not in self._open:
            return None
        try:
            return await self.shell(slot, who)
        except AssignmentConflict:
            return None  # it has just been paused or handed in

    async def files(self, slot: str, who: PersonAtWork) -> Manifest:
        """List the output: the current one, or the last recorded one if the box is not open."""
        assignment = await asyncio.to_thread(assignment_of, self.store, slot)
        if account_of(assignment.person) != account_of(who.person):
            raise AssignmentConflict("this work is not assigned to you", next="take it first")
        workstation = self._open.get(slot)
        if workstation is not None and not assignment.closed:
            async with workstation.busy:
                if slot in self._open:
                    return await workstation.files()
            assignment = await asyncio.to_thread(assignment_of, self.store, slot)
        return await asyncio.to_thread(self.store.manifest, assignment.output) if assignment.output else Manifest()

    async def upload(self, slot: str, who: PersonAtWork, path: str, offset: int, piece: bytes, *, last: bool) -> bool:
        """Add a piece of a file to the output. Return whether the file is complete. Raises UsageError for an unsafe
        path.

        Files that desktop systems leave in folders are skipped; names are normalised to NFC.
        """
        path = unicodedata.normalize("NFC", path)
        async with self._working(slot, who) as workstation:
            if is_stray_file(path):
                return last
            whole = workstation.uploads.add(path, offset, piece, last=last)
            if whole is None:
                return False
            async with workstation.busy:
                try:
                    await workstation.box.write(f"{workstation.box.config.output}/{path}", whole)
                except OSError as error:
                    raise UsageError(
                        f"this file cannot be written: {error.strerror or error}",
                        next="remove files that you do not need, then upload it again",
                    ) from error
                workstation.unkept = True
                assignment = await self._own_assignment(slot, who)
                if assignment.last is None or self.clock() - assignment.last >= timedelta(seconds=APART):
                    await self._keep(workstation, assignment)
            return True

    async def download(self, slot: str, who: PersonAtWork, path: str) -> bytes:
        """Read a file of the output. Raises UsageError if it cannot be read or the path is unsafe."""
        async with self._working(slot, who) as workstation:
            place = place_below(workstation.box.config.output, path)
            try:
                return await workstation.box.read(place, LARGEST)
            except OSError as error:
                raise UsageError(
                    f"this file cannot be read: {error.strerror or error}", next="load the list of files anew"
                ) from error

    async def remove(self, slot: str, who: PersonAtWork, path: str) -> None:
        """Remove a file or folder of the output. Raises UsageError for an unsafe path."""
        async with self._working(slot, who) as workstation:
            await workstation.box.run(["rm", "-rf", "--", place_below(workstation.box.config.output, path)])


def submission_of(store: Store, trial: Trial) -> Submission:
    """Return the submission of a trial."""
    return store.find(Submission, trial=trial.id)[0]
