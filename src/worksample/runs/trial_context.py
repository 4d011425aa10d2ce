"""Context of a running trial."""

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
    """Solvers, shared by all trials that have the same instance, limits and prompt."""

    def solver(self, context: TrialContext, step: StepSpec | None = None) -> Solver:
        """Return the solver that lets the agent do the instance, or one of its steps, with what its arm shows."""
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
            self.solvers[key] = build(self.agent, shown, model=self.model, limits=limits, inputs=context.spec.inputs)
        return self.solvers[key]

    def arm(self, slot: Slot) -> Arm:
        """Return the arm of a slot. PlanError if its experiment lacks the arm."""
        for arm in self.experiment.arms:
            if arm.name == slot.arm:
                return arm
        raise PlanError(
            f"slot {slot.id} belongs to the arm {slot.arm!r}, which its experiment lacks", next="worksample store check"
        )


@dataclass(frozen=True)
class TrialSpec:
    """Description of one try of a slot, complete before its sample is made."""

    job: AgentRun
    slot: Slot
    instance: Instance
    limits: Limits
    inputs: Path
    software: Path
    root: Root | None
    """Root file system of the instance's image."""
    try_number: int
    feeding: AgentInput | None = None
    """What the agent receives from the previous attempt."""
    try_of_run: int = 1
    """Number of this try within the run."""
    lease: Lease | None = None
    """Lease of the slot. Every commit proves that it is still valid."""


@dataclass
class TrialContext:
    """State of one try of a slot, from the creation of its sample until its records are committed."""

    spec: TrialSpec
    id: str = ""
    lost: bool = False
    """Whether another process took over the slot."""
    working: anyio.CancelScope | None = None
    """Cancel scope around the agent's work."""
    started: datetime = field(default_factory=now)
    began: float | None = None
    """Time of the monotonic clock when the agent began; None before."""
    trial: Trial | None = None
    """The committed record."""
    announced: bool = False
    """Whether `on_closed` was called and returned."""
    fatal: BaseException | None = None
    """Error because of which nothing could be committed."""
    recorders: list[Recorder] = field(default_factory=list)
    """Recorders of the trial, in the order in which they are closed."""
    phases: dict[str, float] = field(default_factory=dict)
    account: ModelAccount = field(init=False)
    """Usage of the agent's model requests, also of those in flight."""

    def __post_init__(self) -> None:
        self.account = ModelAccount(self.spec.job.config.prices, self.spec.limits.cost, self.spec.limits.tokens)
        self.id = self.id or trial_id(self.spec.slot.id, self.spec.try_number)

    def lose(self) -> None:
        """Record that another process took over the slot, and stop the agent's work."""
        self.lost = True
        if self.working is not None:
            self.working.cancel()

    def record(self, recorder: Recorder) -> None:
        """Register a recorder, which is closed with the trial."""
        self.recorders.append(recorder)
        self.recorders.sort(key=lambda one: one.rank)

    def measure(self, phase: str) -> _Phase:
        """Return a context manager that adds its duration, in seconds, to a phase of the platform's own work."""
        return _Phase(self.phases, phase)


class _Phase:
    def __init__(self, phases: dict[str, float], name: str) -> None:
        self._phases, self._name = phases, name

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        spent = time.monotonic() - self._start
        self._phases[self._name] = round(self._phases.get(self._name, 0.0) + spent, 6)
