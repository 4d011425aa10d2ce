"""Which trials run, and when: slots are taken one by one under a lease, so that two runs never do the same one."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.errors import Cause, PlanError, StoreError, WorksampleError
from worksample.records import Arm, Instance, Slot, Trial
from worksample.store.owner import new_owner

from .attempt import Attempt, Job
from .close import tell, trial_of
from .limits import limits_of
from .outcome import failed
from .place import spec_of

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSample


LOOK_SECONDS = 0.5
"""Between looks at slots of other runs."""


class Trials:
    """The open slots of one agent in one run. `initial`, `complete` and `cleanup` are called by Inspect."""

    def __init__(self, job: Job, slots: Sequence[Slot]) -> None:
        self.job = job
        self.waiting: deque[tuple[Slot, int]] = deque((slot, 1) for slot in slots)
        self.attempts: dict[str, Attempt] = {}
        self.passed: list[tuple[Slot, int]] = []
        """Slots that another run held when it was their turn."""
        self.held: set[str] = set()
        self.owner = new_owner()
        self.fatal: BaseException | None = None
        self.runner: asyncio.Task[object] | None = None
        """The task whose cancelling means that no further trial begins."""
        self._instances: dict[str, Instance] = {}
        self._arms: dict[str, Arm] = {arm.name: arm for arm in job.experiment.arms}

    def attempt(self, id: str) -> Attempt:
        """The attempt whose sample has this id."""
        return self.attempts[id]

    def take(self) -> Attempt | None:
        """The next slot that nobody else works on and that is still open, as an attempt; None where there is none."""
        while self.waiting:
            slot, here = self.waiting.popleft()
            if not self.job.store.lease(_key(slot), self.owner, self.job.config.lease):
                self.passed.append((slot, here))
                continue
            if self.job.store.find(Trial, slot=slot.id, live=True):
                self.job.store.release(_key(slot), self.owner)
                continue
            self.held.add(slot.id)
            return self._begin(slot, here)
        return None

    def _begin(self, slot: Slot, here: int) -> Attempt:
        store, instance = self.job.store, self.instance(slot.instance)
        attempt = Attempt(
            job=self.job,
            slot=slot,
            instance=instance,
            limits=limits_of(instance, self.arm(slot), self.job.agent),
            inputs=store.folder(instance.work.inputs),
            software=store.folder(instance.work.software),
            try_number=store.tries(slot.id) + 1,
            here=here,
        )
        self.attempts[attempt.id] = attempt
        return attempt

    def instance(self, id: str) -> Instance:
        if id not in self._instances:
            self._instances[id] = self.job.store.get(Instance, id)
        return self._instances[id]

    def arm(self, slot: Slot) -> Arm:
        if slot.arm not in self._arms:
            raise PlanError(f"slot {slot.id} is of the arm {slot.arm!r}, which its experiment lacks")
        return self._arms[slot.arm]

    def samples(self, count: int) -> list[Sample]:
        """Up to `count` more trials as samples. Nothing of the reference or the grading is in them."""
        out: list[Sample] = []
        if self.runner is not None and self.runner.cancelling():
            return out
        while len(out) < count and self.fatal is None and (attempt := self.take()) is not None:
            out.append(self._sample(attempt))
        return out

    def _sample(self, attempt: Attempt) -> Sample:
        from inspect_ai.dataset import Sample

        return Sample(
            id=attempt.id,
            input=attempt.instance.work.brief,
            sandbox=spec_of(attempt),
            metadata={"instance": attempt.instance.id, "slot": attempt.slot.id, "try": attempt.try_number},
        )

    async def complete(self, sample: EvalSample) -> list[Sample]:
        """A sample is over: its trial must be in the store. Gives the next one; StoreError stops the run."""
        attempt = self.attempts.pop(str(sample.id))
        if attempt.fatal is not None:
            self.fatal = self.fatal or attempt.fatal
            raise self.fatal
        try:
            trial = await asyncio.to_thread(self._closed, attempt, sample)
        except WorksampleError as error:
            self.fatal = self.fatal or error
            raise
        self.release(attempt.slot.id)
        if trial.outcome.retried and attempt.here < self.job.config.tries:
            self.waiting.appendleft((attempt.slot, attempt.here + 1))
        return await asyncio.to_thread(self.samples, 1)

    def _closed(self, attempt: Attempt, sample: EvalSample) -> Trial:
        if attempt.trial is None and attempt.began is None:
            self._never_began(attempt, sample)
        if attempt.trial is None:
            raise StoreError(
                f"trial {attempt.id} ended without its record",
                where=self.job.experiment.id,
                next="worksample store check, then worksample resume",
            )
        if not attempt.told:
            said = sample.error.message if sample.error is not None else "no reason given"
            raise WorksampleError(f"what follows on a closed trial failed: {said}", cause=Cause.PLATFORM_CRASH)
        return attempt.trial

    def _never_began(self, attempt: Attempt, sample: EvalSample) -> None:
        """The sandbox did not start: the agent never worked, and there is nothing to hand in."""
        said = sample.error.message if sample.error is not None else "the trial never began"
        trial = trial_of(attempt, failed(Cause.SANDBOX_START, said))
        self.job.store.commit(trial)
        attempt.trial = trial
        tell(attempt, trial, None)

    def release(self, slot: str) -> None:
        """Give a slot back."""
        self.held.discard(slot)
        self.job.store.release(f"slot:{slot}", self.owner)

    async def wait_for_others(self) -> bool:
        """Watch slots that another run holds, for as long as a lease lasts: True once some are left to this run.

        A run that was killed leaves leases that nobody renews; one that lives renews them, and its slots stay its own.
        """
        end = time.monotonic() + self.job.config.lease
        while self.passed:
            if left := await asyncio.to_thread(self._left):
                self.waiting.extend(left)
                return True
            if time.monotonic() > end:
                break
            await asyncio.sleep(min(LOOK_SECONDS, self.job.config.lease / 4))
        return False

    def _left(self) -> list[tuple[Slot, int]]:
        """Of the slots that another run held: those that nobody holds or has done. The done ones are forgotten."""
        store = self.job.store
        self.passed = [(slot, here) for slot, here in self.passed if not store.find(Trial, slot=slot.id, live=True)]
        free = [(slot, here) for slot, here in self.passed if store.holder(_key(slot)) is None]
        self.passed = [one for one in self.passed if one not in free]
        return free

    async def keep(self) -> None:
        """Renew the leases of all slots in work, until cancelled."""
        while True:
            await asyncio.sleep(self.job.config.lease / 3)
            for slot in tuple(self.held):
                # A database that is busy now is asked again well before the lease is over.
                with contextlib.suppress(StoreError):
                    await asyncio.to_thread(self.job.store.renew, f"slot:{slot}", self.owner, self.job.config.lease)

    def __repr__(self) -> str:
        return f"Trials({self.job.agent.id}, {len(self.waiting)} waiting, {len(self.attempts)} in work)"


def _key(slot: Slot) -> str:
    return f"slot:{slot.id}"
