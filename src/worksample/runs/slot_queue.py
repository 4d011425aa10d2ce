"""The queue of a run's slots. A slot is taken under a lease, so that two runs never work on the same slot."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from worksample.box import Root
from worksample.errors import Cause, ImageError, ModelKeyError, StoreError, WorksampleError
from worksample.records import Instance, Slot, Trial, Worker
from worksample.results.assignments.shared_slot_turns import prepare_turn
from worksample.results.reattempts.previous_attempt import AgentInput, prepare_input
from worksample.sandboxes.images import image_root
from worksample.store import Store
from worksample.store.lease import Lease
from worksample.store.lease_owner import new_owner
from worksample.store.lease_renewal import renew_leases

from .follow_up_slots import FollowUpSlots
from .run_config import RunConfig
from .trial_box import spec_of
from .trial_close import announce, build_trial, commit_trial
from .trial_context import AgentRun, TrialContext, TrialSpec
from .trial_limits import limits_of
from .trial_outcome import failure_outcome

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSample


POLL_SECONDS = 0.5
"""Seconds between two checks of slots that other runs have leased."""
KEY_REFUSALS = 3
"""Number of consecutive trials of one agent with a refused API key after which the run stops, because all further
trials would fail, too.
"""


class SampleFeed:
    """A source of samples for one agent's Inspect task. It passes on samples one by one until it is closed."""

    def __init__(self) -> None:
        self._box: list[Sample] = []
        self._context: contextvars.Context | None = None
        self._idle = True
        self._closed = False
        self._woken = asyncio.Event()

    @property
    def empty(self) -> bool:
        """True if the feed is closed and no sample is left."""
        return self._closed and not self._box

    def give(self, sample: Sample) -> None:
        """Pass a sample to the task, which starts it."""
        from inspect_ai import enqueue_sample

        if self._idle or self._context is None:
            self._box.append(sample)
            self._woken.set()
        else:
            # The task only accepts samples from its own context, and this may be another one.
            self._context.copy().run(enqueue_sample, sample)

    def close(self) -> None:
        """Close the feed. The task ends when its samples are done."""
        self._closed = True
        self._woken.set()

    async def next(self) -> list[Sample] | None:
        """Return the next samples, or None to end the task. Inspect calls this method when the task has no sample in
        progress.
        """
        self._context = contextvars.copy_context()
        self._idle = True
        while not self._box and not self._closed:
            self._woken.clear()
            await self._woken.wait()
        given, self._box = self._box, []
        self._idle = False
        return given or None


class SlotQueue:
    """The open slots of one run, for all its agents. Inspect calls `complete` after each sample.

    A run has a fixed number of places. A free place takes the next slot in order, whichever agent the slot belongs to.
    A slow trial of one agent therefore does not delay other agents.
    """

    def __init__(
        self,
        jobs: Mapping[str, AgentRun],
        slots: Sequence[Slot],
        store: Store,
        config: RunConfig,
        broken: Mapping[str, ImageError],
        follow_ups: FollowUpSlots | None = None,
    ) -> None:
        """Create a queue. broken: instances whose image is not available, by instance id. follow_ups: source of slots
        that are added during the run.
        """
        self.jobs, self.store, self.config, self.broken = jobs, store, config, broken
        self.follow_ups = follow_ups
        self.checked = {slot.instance for slot in slots}
        """Ids of the instances whose agents, limits and images were checked before the run began."""
        self.waiting: deque[tuple[Slot, int]] = deque((slot, 1) for slot in slots)
        self.contexts: dict[str, TrialContext] = {}
        self.leased_elsewhere: list[tuple[Slot, int]] = []
        """Slots that another run had leased when this run tried to take them, each with its number of tries in this
        run.
        """
        self.leased: set[str] = set()
        self.owner = new_owner()
        self.fatal: BaseException | None = None
        self.feeds: dict[str, SampleFeed] = {}
        """Feeds of the agents whose Inspect tasks are running, by agent id."""
        self.runner: asyncio.Task[object] | None = None
        """The asyncio task of the run. No further trial begins after this task was cancelled."""
        self.eval: asyncio.Task[object] | None = None
        """The asyncio task of the running eval. It is cancelled if trials cannot be stored."""
        self.refusals: dict[str, int] = {}
        """Number of the latest consecutive trials with a refused API key, by agent id."""
        self._instances: dict[str, Instance] = {}
        self._taking = asyncio.Lock()

    def context_of(self, id: str) -> TrialContext:
        """Return the trial context of a sample, by sample id."""
        return self.contexts[id]

    async def fill(self) -> list[str]:
        """Start trials until all places are used. Return the ids of the agents that have slots or may get more, in the
        order of their slots.
        """
        self.feeds = {id: SampleFeed() for id in dict.fromkeys(slot.agent for slot, _ in self.waiting)}
        for _ in range(self.config.parallel):
            await self._fill_place()
        return [id for id, feed in self.feeds.items() if not feed.empty]

    def _stopping(self) -> bool:
        return self.fatal is not None or (self.runner is not None and self.runner.cancelling() > 0)

    async def _fill_place(self) -> None:
        """Start the next slot in a free place, and close the feeds of agents that have no slots left."""
        async with self._taking:
            context = None if self._stopping() else await asyncio.to_thread(self._next)
            if context is not None:
                self.feeds[context.spec.slot.agent].give(self._sample(context))
            left = {slot.agent for slot, _ in self.waiting} | {one.spec.slot.agent for one in self.contexts.values()}
            if left and self.follow_ups is not None:
                # A finished trial may lead to follow-up slots until all trials are done.
                left = set(self.feeds)
            for id, feed in self.feeds.items():
                if id not in left or self._stopping():
                    feed.close()

    @property
    def idle(self) -> bool:
        """True if a place is free and no slot is waiting, while trials are in progress."""
        return (
            bool(self.contexts)
            and not self.waiting
            and len(self.contexts) < self.config.parallel
            and not self._stopping()
        )

    async def add(self, slots: Sequence[Slot]) -> None:
        """Add slots to the queue. Slots are ignored if their agent has no running task, or if their instance was not
        checked before the run.
        """
        async with self._taking:
            # If no trial is in progress, the tasks have ended, and the next run takes these slots.
            if not self.contexts or self._stopping():
                return
            known = {slot.id for slot, _ in (*self.waiting, *self.leased_elsewhere)} | self.leased
            fits = [s for s in slots if s.agent in self.feeds and s.instance in self.checked and s.id not in known]
            self.waiting.extend((slot, 1) for slot in fits)
        for _ in range(self.config.parallel - len(self.contexts)):
            await self._fill_place()

    def _next(self) -> TrialContext | None:
        """Lease the next open slot and return its trial context. Return None if no slot is left."""
        while self.waiting:
            slot, here = self.waiting.popleft()
            lease = self.store.take(_key(slot.id), self.owner, self.config.lease)
            if lease is None:
                self.leased_elsewhere.append((slot, here))
                continue
            if self.store.find(Trial, slot=slot.id, live=True):
                self.store.release(_key(slot.id), self.owner)
                continue
            store, job, instance = self.store, self.jobs[slot.agent], self.instance(slot.instance)
            feeding = None
            if slot.after is not None:
                feeding = prepare_input(store, slot, job.arm(slot), instance, job.experiment.lock.protocol)
                if feeding is None:  # the earlier work was withdrawn meanwhile: the chain decides what comes instead
                    store.release(_key(slot.id), self.owner)
                    continue
            elif job.arm(slot).worker is Worker.ASSISTED:
                feeding = prepare_turn(store, slot, instance)
            self.leased.add(slot.id)
            if error := self.broken.get(slot.instance):
                self._close_without_image(self._context(slot, here, lease, feeding, None), error)
                continue
            context = self._context(slot, here, lease, feeding, image_root(instance.work.environment, store.folder))
            self.contexts[context.id] = context
            return context
        return None

    def _context(
        self, slot: Slot, here: int, lease: Lease, feeding: AgentInput | None, root: Root | None
    ) -> TrialContext:
        store, instance, job = self.store, self.instance(slot.instance), self.jobs[slot.agent]
        spec = TrialSpec(
            job=job,
            slot=slot,
            instance=instance,
            limits=limits_of(instance, job.arm(slot), job.agent),
            inputs=store.folder(instance.work.inputs),
            software=store.folder(instance.work.software),
            root=root,
            try_number=store.tries(slot.id) + 1,
            feeding=feeding,
            try_of_run=here,
            lease=lease,
        )
        return TrialContext(spec)

    def _close_without_image(self, context: TrialContext, error: ImageError) -> None:
        """Store a failed trial for a slot whose image is not available. The run continues with the other slots."""
        trial = commit_trial(context, build_trial(context, failure_outcome(Cause.SANDBOX_IMAGE, str(error))))
        self.release(context.spec.slot.id)
        announce(context, trial, None)

    def instance(self, id: str) -> Instance:
        if id not in self._instances:
            self._instances[id] = self.store.get(Instance, id)
        return self._instances[id]

    def _sample(self, context: TrialContext) -> Sample:
        from inspect_ai.dataset import Sample

        return Sample(
            id=context.id,
            input=context.spec.instance.work.brief,
            sandbox=spec_of(context),
            metadata={
                "instance": context.spec.instance.id,
                "slot": context.spec.slot.id,
                "try": context.spec.try_number,
            },
        )

    async def complete(self, sample: EvalSample) -> None:
        """Check that the sample's trial is in the store, and give its place to the next slot. Raises StoreError if the
        trial is not stored; the run then stops.
        """
        context = self.contexts[str(sample.id)]
        try:
            if context.fatal is not None:
                raise context.fatal
            trial = await asyncio.to_thread(self._take_trial, context, sample)
            self._count_refusal(trial)
            if trial.outcome.retried and context.spec.try_of_run < self.config.tries:
                self.waiting.appendleft((context.spec.slot, context.spec.try_of_run + 1))
            del self.contexts[context.id]
            await self._fill_place()
            if self.follow_ups is not None:
                self.follow_ups.changed.set()
        except Exception as error:
            # End the whole run: the other agents' tasks would continue otherwise.
            self.fatal = self.fatal or error
            if self.eval is not None:
                self.eval.cancel()
            raise

    def _take_trial(self, context: TrialContext, sample: EvalSample) -> Trial:
        """Return the stored trial of a sample and release its slot. Raises StoreError if the trial is not stored;
        WorksampleError if the platform failed after storing the trial.
        """
        if context.trial is None and context.began is None:
            self._close_unstarted(context, sample)
        if context.trial is None:
            raise StoreError(
                f"trial {context.id} ended without its record",
                where=context.spec.job.experiment.id,
                next="worksample store check, then worksample resume",
            )
        if not context.announced:
            said = sample.error.message if sample.error is not None else "no reason given"
            raise WorksampleError(
                f"the trial was stored, but the platform failed afterwards: {said}",
                cause=Cause.PLATFORM_CRASH,
                next="worksample resume",
            )
        self.release(context.spec.slot.id)
        return context.trial

    def _count_refusal(self, trial: Trial) -> None:
        """Count consecutive trials with a refused API key. Raises ModelKeyError after `KEY_REFUSALS` such trials of an
        agent.
        """
        refused = trial.outcome.cause is Cause.MODEL_KEY
        count = self.refusals[trial.agent] = self.refusals.get(trial.agent, 0) + 1 if refused else 0
        if count >= KEY_REFUSALS:
            agent = self.jobs[trial.agent].agent
            raise ModelKeyError(
                f"{trial.outcome.reason} ({count} trials in a row; finished work is kept)",
                where=f"agent {agent.name}, model {agent.model}",
                next=f"fix the key or the account, then worksample resume {trial.experiment}",
            )

    def _close_unstarted(self, context: TrialContext, sample: EvalSample) -> None:
        """Store a failed trial whose sandbox did not start. The agent never worked, so the trial has no submission."""
        said = sample.error.message if sample.error is not None else "the trial never began"
        trial = commit_trial(context, build_trial(context, failure_outcome(Cause.SANDBOX_START, said)))
        context.trial = trial
        announce(context, trial, None)

    def release(self, slot: str) -> None:
        """Release this run's lease of a slot."""
        self.leased.discard(slot)
        self.store.release(_key(slot), self.owner)

    async def wait_for_others(self) -> bool:
        """Wait until slots that another run has leased become free, at most for the duration of a lease. Return True if
        some became free.

        A run that was stopped does not renew its leases. A living run renews its leases and thus keeps its slots.
        """
        end = time.monotonic() + self.config.lease
        while self.leased_elsewhere:
            if left := await asyncio.to_thread(self._released_slots):
                self.waiting.extend(left)
                return True
            if time.monotonic() > end:
                break
            await asyncio.sleep(min(POLL_SECONDS, self.config.lease / 4))
        return False

    def _released_slots(self) -> list[tuple[Slot, int]]:
        """Return open slots that other runs no longer lease. Slots with a finished trial are removed from
        `leased_elsewhere`.
        """
        store = self.store
        self.leased_elsewhere = [
            (slot, here) for slot, here in self.leased_elsewhere if not store.find(Trial, slot=slot.id, live=True)
        ]
        free = [(slot, here) for slot, here in self.leased_elsewhere if store.holder(_key(slot.id)) is None]
        self.leased_elsewhere = [one for one in self.leased_elsewhere if one not in free]
        return free

    async def renew_leases_until_cancelled(self) -> None:
        """Renew the leases of all slots in progress until this task is cancelled. If another process has taken over a
        slot, stop the work on it.
        """

        def contexts_by_lease() -> dict[Lease, TrialContext]:
            return {c.spec.lease: c for c in self.contexts.values() if c.spec.lease is not None and c.trial is None}

        def on_lost(lease: Lease) -> None:
            if (context := contexts_by_lease().get(lease)) is not None:
                context.lose()

        await renew_leases(self.store, self.config.lease, contexts_by_lease, on_lost)

    def __repr__(self) -> str:
        return f"Trials({len(self.jobs)} agents, {len(self.waiting)} waiting, {len(self.contexts)} in work)"


def _key(slot: str) -> str:
    return f"slot:{slot}"
