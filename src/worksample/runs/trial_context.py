"""The context of a running trial: its settings and its state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from worksample.agents import build
from worksample.box import Root
from worksample.errors import PlanError
from worksample.models.request_account import ModelAccount
from worksample.records import Agent, Arm, Experiment, Instance, Limits, Slot, StepSpec, Submission, Trial, now
from worksample.records.closed_trial import trial_id
from worksample.results.reattempts.previous_attempt import AgentInput, as_shown
from worksample.sandboxes.capture import step_view
from worksample.store import Store
from worksample.store.lease import Lease

from .recorder_base import Recorder
from .run_config import RunConfig

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver

OnClosed = Callable[[Trial, Submission | None], None]


@dataclass(frozen=True)
class AgentRun:
    """Settings that all trials of one agent in a run share."""

    store: Store
    experiment: Experiment
    agent: Agent
    model: Model | None
    config: RunConfig
    on_closed: OnClosed
    solvers: dict[tuple[str, Limits, str], Solver] = field(default_factory=dict)
    """Inspect solvers of this agent. Trials with the same instance, limits and prompt share a solver."""

    def solver(self, context: TrialContext, step: StepSpec | None = None) -> Solver:
        """Return the solver in which the agent works on the instance, or on one of its steps. The solver shows the
        agent what its arm allows.
        """
        arm = self.arm(context.spec.slot)
        instance = context.spec.instance if step is None else step_view(context.spec.instance, step.name)
        limits = (
            context.spec.limits if step is None or step.time is None else context.spec.limits.replaced(time=step.time)
        )
        key = (
            context.spec.instance.id,
            limits,
            f"{arm.shown_rubric} {context.spec.slot.id if context.spec.feeding else ''} {step.name if step else ''}",
        )
        if key not in self.solvers:
            shown = as_shown(instance, arm, self.experiment.lock.protocol, context.spec.feeding)
            self.solvers[key] = build(
                self.agent,
                shown,
                model=self.model,
                limits=limits,
                inputs=context.spec.inputs,
                in_steps=step is not None,
            )
        return self.solvers[key]

    def arm(self, slot: Slot) -> Arm:
        """Return the arm of a slot. Raises PlanError if the experiment has no such arm."""
        for arm in self.experiment.arms:
            if arm.name == slot.arm:
                return arm
        raise PlanError(
            f"slot {slot.id} belongs to the arm {slot.arm!r}, which its experiment lacks", next="worksample store check"
        )


@dataclass(frozen=True)
class TrialSpec:
    """Description of one try of a slot. It is complete before the Inspect sample is created."""

    job: AgentRun
    slot: Slot
    instance: Instance
    limits: Limits
    inputs: Path
    software: Path
    root: Root | None
    """Root file system of the instance's image; None if the task has no image."""
    try_number: int
    feeding: AgentInput | None = None
    """The work and the feedback that the agent receives from the previous attempt; None for a first attempt."""
    try_of_run: int = 1
    """Number of this try of the slot within the run, from 1."""
    lease: Lease | None = None
    """Lease of the slot. A commit succeeds only while the lease is valid."""


@dataclass
class TrialContext:
    """State of one try of a slot, from the creation of its sample until its records are committed."""

    spec: TrialSpec
    id: str = ""
    lost: bool = False
    """True if another process has taken over the slot."""
    working: anyio.CancelScope | None = None
    """Cancel scope of the agent's work; None before the work."""
    started: datetime = field(default_factory=now)
    began: float | None = None
    """Monotonic time in seconds at which the agent began; None before."""
    trial: Trial | None = None
    """The committed record of the trial; None before the commit."""
    announced: bool = False
    """True if `on_closed` was called and returned without an error."""
    fatal: BaseException | None = None
    """The error that prevented every commit; None if there was none."""
    recorders: list[Recorder] = field(default_factory=list)
    """Recorders of the trial, in the order in which they are called when the trial is closed."""
    phases: dict[str, float] = field(default_factory=dict)
    account: ModelAccount = field(init=False)
    """Usage of the agent's model requests, with those in progress."""

    def __post_init__(self) -> None:
        self.account = ModelAccount(self.spec.job.config.prices, self.spec.limits.cost, self.spec.limits.tokens)
        self.id = self.id or trial_id(self.spec.slot.id, self.spec.try_number)

    def lose(self) -> None:
        """Note that another process has taken over the slot, and stop the agent's work."""
        self.lost = True
        if self.working is not None:
            self.working.cancel()

    def record(self, recorder: Recorder) -> None:
        """Register a recorder, which is called when the trial is closed."""
        self.recorders.append(recorder)
        self.recorders.sort(key=lambda one: one.rank)

    def measure(self, phase: str) -> _Phase:
        """Return a context manager that measures a phase of the platform's own work. The duration in seconds is added
        to `phases`.
        """
        return _Phase(self.phases, phase)


class _Phase:
    def __init__(self, phases: dict[str, float], name: str) -> None:
        self._phases, self._name = phases, name

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        spent = time.monotonic() - self._start
        self._phases[self._name] = round(self._phases.get(self._name, 0.0) + spent, 6)
