"""Which trials run, and when: slots are taken one by one under a lease, so that two runs never do the same one."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from worksample.box import Root
from worksample.errors import Cause, ImageError, ModelKeyError, StoreError, WorksampleError
from worksample.records import Instance, Slot, Trial, Worker
from worksample.results.assignments.turns import feed_turn
from worksample.results.reattempts.earlier_work import Feeding, feed
from worksample.sandboxes.images import image_root
from worksample.store import Store
from worksample.store.lease import Lease
from worksample.store.lease_owner import new_owner

from .close import keep, tell, trial_of
from .config import RunConfig
from .follow_up_slots import More
from .limits import limits_of
from .outcome import failed
from .sample_feed import SampleFeed
from .trial_box import spec_of
from .tries import AgentRun, TrialContext

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSample


LOOK_SECONDS = 0.5
"""Between looks at slots of other runs."""
REFUSALS = 3
"""Trials of one agent in succession whose key was not taken: then the run ends, since all others would end so."""


class SlotQueue:
    """The open slots of one run, of all its agents. `complete` is called by Inspect, agent by agent.

    A run has so many places. Whoever is done with one takes the next slot in order, whichever agent it is for: the
    last straggler of one agent holds up no other.
    """

    def __init__(
        self,
        jobs: Mapping[str, AgentRun],
        slots: Sequence[Slot],
        store: Store,
        config: RunConfig,
        broken: Mapping[str, ImageError],
        more: More | None = None,
    ) -> None:
        """broken: instances whose images cannot be had. more: whoever may have slots later."""
        self.jobs, self.store, self.config, self.broken = jobs, store, config, broken
        self.more = more
        self.checked = {slot.instance for slot in slots}
        """Instances whose agents, limits and images were looked at before anything ran."""
        self.waiting: deque[tuple[Slot, int]] = deque((slot, 1) for slot in slots)
        self.tries: dict[str, TrialContext] = {}
        self.passed: list[tuple[Slot, int]] = []
        """Slots that another run held when it was their turn."""
        self.held: set[str] = set()
        self.owner = new_owner()
        self.fatal: BaseException | None = None
        self.feeds: dict[str, SampleFeed] = {}
        """Of the agents whose tasks run now."""
        self.runner: asyncio.Task[object] | None = None
        """The task whose cancelling means that no further trial begins."""
        self.eval: asyncio.Task[object] | None = None
        """The eval that runs now: it ends where nothing can be kept any more."""
        self.refusals: dict[str, int] = {}
        """Per agent, how many of its last trials in succession the service refused for the key."""
        self._instances: dict[str, Instance] = {}
        self._taking = asyncio.Lock()

    def try_of(self, id: str) -> TrialContext:
        """The try whose sample has this id."""
        return self.tries[id]

    async def begin(self) -> list[str]:
        """Fill the run's places; the agents that have something to do or may get it, in the order of their slots."""
        self.feeds = {id: SampleFeed() for id in dict.fromkeys(slot.agent for slot, _ in self.waiting)}
        for _ in range(self.config.parallel):
            await self._go_on()
        return [id for id, feed in self.feeds.items() if not feed.empty]

    def _stopping(self) -> bool:
        return self.fatal is not None or (self.runner is not None and self.runner.cancelling() > 0)

    async def _go_on(self) -> None:
        """Give a free place to the next slot; let the tasks end whose agents have none left."""
        async with self._taking:
            try_ = None if self._stopping() else await asyncio.to_thread(self._next)
            if try_ is not None:
                self.feeds[try_.slot.agent].give(self._sample(try_))
            left = {slot.agent for slot, _ in self.waiting} | {one.slot.agent for one in self.tries.values()}
            if left and self.more is not None:
                # What an agent has done may bring it more to do, until all of them are done.
                left = set(self.feeds)
            for id, feed in self.feeds.items():
                if id not in left or self._stopping():
                    feed.close()

    @property
    def idle(self) -> bool:
        """Whether a place stands free, and something is in work."""
        return bool(self.tries) and not self.waiting and len(self.tries) < self.config.parallel and not self._stopping()

    async def add(self, slots: Sequence[Slot]) -> None:
        """Take slots that came since: of agents that work now, on instances that were looked at."""
        async with self._taking:
            # Where nothing is in work any more the tasks have ended, and the next run has these.
            if not self.tries or self._stopping():
                return
            known = {slot.id for slot, _ in (*self.waiting, *self.passed)} | self.held
            fits = [s for s in slots if s.agent in self.feeds and s.instance in self.checked and s.id not in known]
            self.waiting.extend((slot, 1) for slot in fits)
        for _ in range(self.config.parallel - len(self.tries)):
            await self._go_on()

    def _next(self) -> TrialContext | None:
        """The next slot that nobody else works on and that is still open, as a try; None where there is none."""
        while self.waiting:
            slot, here = self.waiting.popleft()
            lease = self.store.take(_key(slot.id), self.owner, self.config.lease)
            if lease is None:
                self.passed.append((slot, here))
                continue
            if self.store.find(Trial, slot=slot.id, live=True):
                self.store.release(_key(slot.id), self.owner)
                continue
            store, job, instance = self.store, self.jobs[slot.agent], self.instance(slot.instance)
            feeding = None
            if slot.after is not None:
                feeding = feed(store, slot, job.arm(slot), instance, job.experiment.lock.protocol)
                if feeding is None:  # withdrawn since its turn came: the chain says what comes instead
                    store.release(_key(slot.id), self.owner)
                    continue
            elif job.arm(slot).worker is Worker.ASSISTED:
                feeding = feed_turn(store, slot, instance)
            self.held.add(slot.id)
            if error := self.broken.get(slot.instance):
                self._never_could(self._try(slot, here, lease, feeding, None), error)
                continue
            try_ = self._try(slot, here, lease, feeding, image_root(instance.work.environment, store.folder))
            self.tries[try_.id] = try_
            return try_
        return None

    def _try(self, slot: Slot, here: int, lease: Lease, feeding: Feeding | None, root: Root | None) -> TrialContext:
        store, instance, job = self.store, self.instance(slot.instance), self.jobs[slot.agent]
        return TrialContext(
            job=job,
            slot=slot,
            instance=instance,
            limits=limits_of(instance, job.arm(slot), job.agent),
            inputs=store.folder(instance.work.inputs),
            software=store.folder(instance.work.software),
            root=root,
            try_number=store.tries(slot.id) + 1,
            feeding=feeding,
            here=here,
            lease=lease,
        )

    def _never_could(self, try_: TrialContext, error: ImageError) -> None:
        """The work's image cannot be had: nobody could work, and the run goes on with the others."""
        trial = keep(try_, trial_of(try_, failed(Cause.SANDBOX_IMAGE, str(error))))
        self.release(try_.slot.id)
        tell(try_, trial, None)

    def instance(self, id: str) -> Instance:
        if id not in self._instances:
            self._instances[id] = self.store.get(Instance, id)
        return self._instances[id]

    def _sample(self, try_: TrialContext) -> Sample:
        from inspect_ai.dataset import Sample

        return Sample(
            id=try_.id,
            input=try_.instance.work.brief,
            sandbox=spec_of(try_),
            metadata={"instance": try_.instance.id, "slot": try_.slot.id, "try": try_.try_number},
        )

    async def complete(self, sample: EvalSample) -> None:
        """A sample is over: its trial must be in the store, and its place is free. StoreError stops the run."""
        try_ = self.tries[str(sample.id)]
        try:
            if try_.fatal is not None:
                raise try_.fatal
            trial = await asyncio.to_thread(self._closed, try_, sample)
            self._count_refusal(trial)
            if trial.outcome.retried and try_.here < self.config.tries:
                self.waiting.appendleft((try_.slot, try_.here + 1))
            del self.tries[try_.id]
            await self._go_on()
            if self.more is not None:
                self.more.changed.set()
        except Exception as error:
            # The whole run ends: other agents' tasks would go on by themselves.
            self.fatal = self.fatal or error
            if self.eval is not None:
                self.eval.cancel()
            raise

    def _closed(self, try_: TrialContext, sample: EvalSample) -> Trial:
        """The trial, which must be in the store; its slot is given back."""
        if try_.trial is None and try_.began is None:
            self._never_began(try_, sample)
        if try_.trial is None:
            raise StoreError(
                f"trial {try_.id} ended without its record",
                where=try_.job.experiment.id,
                next="worksample store check, then worksample resume",
            )
        if not try_.told:
            said = sample.error.message if sample.error is not None else "no reason given"
            raise WorksampleError(f"what follows on a closed trial failed: {said}", cause=Cause.PLATFORM_CRASH)
        self.release(try_.slot.id)
        return try_.trial

    def _count_refusal(self, trial: Trial) -> None:
        """ModelKeyError once an agent's key was refused for the third time in succession."""
        refused = trial.outcome.cause is Cause.MODEL_KEY
        count = self.refusals[trial.agent] = self.refusals.get(trial.agent, 0) + 1 if refused else 0
        if count >= REFUSALS:
            agent = self.jobs[trial.agent].agent
            raise ModelKeyError(
                f"{trial.outcome.reason} ({count} trials in succession; what is finished is kept)",
                where=f"agent {agent.name}, model {agent.model}",
                next=f"fix the key or the account, then worksample resume {trial.experiment}",
            )

    def _never_began(self, try_: TrialContext, sample: EvalSample) -> None:
        """The sandbox did not start: the agent never worked, and there is nothing to hand in."""
        said = sample.error.message if sample.error is not None else "the trial never began"
        trial = keep(try_, trial_of(try_, failed(Cause.SANDBOX_START, said)))
        try_.trial = trial
        tell(try_, trial, None)

    def release(self, slot: str) -> None:
        """Give a slot back."""
        self.held.discard(slot)
        self.store.release(_key(slot), self.owner)

    async def wait_for_others(self) -> bool:
        """Watch slots that another run holds, for as long as a lease lasts: True once some are left to this run.

        A run that was killed leaves leases that nobody renews; one that lives renews them, and its slots stay its own.
        """
        end = time.monotonic() + self.config.lease
        while self.passed:
            if left := await asyncio.to_thread(self._left):
                self.waiting.extend(left)
                return True
            if time.monotonic() > end:
                break
            await asyncio.sleep(min(LOOK_SECONDS, self.config.lease / 4))
        return False

    def _left(self) -> list[tuple[Slot, int]]:
        """Of the slots that another run held: those that nobody holds or has done. The done ones are forgotten."""
        store = self.store
        self.passed = [(slot, here) for slot, here in self.passed if not store.find(Trial, slot=slot.id, live=True)]
        free = [(slot, here) for slot, here in self.passed if store.holder(_key(slot.id)) is None]
        self.passed = [one for one in self.passed if one not in free]
        return free

    async def keep(self) -> None:
        """Renew the leases of all slots in work, until cancelled; stop the work on a slot that another process took."""
        while True:
            await asyncio.sleep(self.config.lease / 3)
            for try_ in tuple(self.tries.values()):
                if try_.lease is None or try_.trial is not None:
                    continue
                # A database that is busy now is asked again well before the lease is over.
                with contextlib.suppress(StoreError):
                    if not await asyncio.to_thread(self.store.keep, try_.lease, self.config.lease):
                        try_.lose()

    def __repr__(self) -> str:
        return f"Trials({len(self.jobs)} agents, {len(self.waiting)} waiting, {len(self.tries)} in work)"


def _key(slot: str) -> str:
    return f"slot:{slot}"
