"""One try of a slot, while it lasts."""

from __future__ import annotations

import secrets
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
from worksample.results.reattempts.earlier_work import Feeding, as_shown
from worksample.sandboxes.browser import BrowserLedger
from worksample.sandboxes.capture import StepCapture, step_view
from worksample.sandboxes.endpoints import ConnectionLedger
from worksample.sandboxes.services import TrialServices
from worksample.store import Store
from worksample.store.lease import Lease
from worksample.workplace.colleagues.colleague_runner import ColleagueRunner
from worksample.workplace.workplace import LiveWorkplace

from .config import RunConfig

if TYPE_CHECKING:
    from inspect_ai.model import Model
    from inspect_ai.solver import Solver

OnClosed = Callable[[Trial, Submission | None], None]


@dataclass(frozen=True)
class AgentRun:
    """What all trials of one agent in one run share."""

    store: Store
    experiment: Experiment
    agent: Agent
    model: Model | None
    config: RunConfig
    on_closed: OnClosed
    solvers: dict[tuple[str, Limits, str], Solver] = field(default_factory=dict)
    """Made once for all tries of an instance under the same limits that are shown the same."""

    def solver(self, try_: TrialContext, step: StepSpec | None = None) -> Solver:
        """What does the instance's work, or one of its steps, as the agent does, shown what its arm shows."""
        arm = self.arm(try_.slot)
        instance = try_.instance if step is None else step_view(try_.instance, step.name)
        limits = try_.limits if step is None or step.time is None else try_.limits.replaced(time=step.time)
        key = (
            try_.instance.id,
            limits,
            f"{arm.shown_rubric} {try_.slot.id if try_.feeding else ''} {step.name if step else ''}",
        )
        if key not in self.solvers:
            shown = as_shown(instance, arm, self.experiment.lock.protocol, try_.feeding)
            self.solvers[key] = build(self.agent, shown, model=self.model, limits=limits, inputs=try_.inputs)
        return self.solvers[key]

    def arm(self, slot: Slot) -> Arm:
        """The condition that a slot is of. PlanError where its experiment lacks it."""
        for arm in self.experiment.arms:
            if arm.name == slot.arm:
                return arm
        raise PlanError(f"slot {slot.id} is of the arm {slot.arm!r}, which its experiment lacks")


@dataclass
class TrialContext:
    """A try: from the moment its sample is made until its records are committed."""

    job: AgentRun
    slot: Slot
    instance: Instance
    limits: Limits
    inputs: Path
    software: Path
    root: Root | None
    """Of the instance's image."""
    try_number: int
    feeding: Feeding | None = None
    """What the agent is given of the attempt before."""
    here: int = 1
    """Which try of this run it is."""
    id: str = ""
    lease: Lease | None = None
    """Of its slot: every commit proves that it still holds it."""
    lost: bool = False
    """Whether another process took the slot over meanwhile."""
    working: anyio.CancelScope | None = None
    """Around the agent's work, while it lasts."""
    started: datetime = field(default_factory=now)
    began: float | None = None
    """Monotonic clock when the agent began; None until then."""
    trial: Trial | None = None
    """The committed record."""
    told: bool = False
    """Whether `on_closed` was called and came back."""
    fatal: BaseException | None = None
    """Why nothing could be committed."""
    connections: ConnectionLedger | None = None
    """What went through the box's endpoints; None where it has none."""
    browsed: BrowserLedger | None = None
    """What the agent did in its browser; None where it has none."""
    services: TrialServices | None = None
    """Those of the task, while they stand."""
    workplace: LiveWorkplace | None = None
    """The task's workplace, while it stands."""
    attending: ColleagueRunner | None = None
    """The colleagues in the task's chat, while they answer."""
    steps: StepCapture | None = None
    """What was left after each step of the work; None where it is one whole."""
    phases: dict[str, float] = field(default_factory=dict)
    account: ModelAccount = field(init=False)
    """What the agent's requests to models take."""

    def __post_init__(self) -> None:
        self.account = ModelAccount(self.job.config.prices, self.limits.cost, self.limits.tokens)
        self.id = self.id or f"{self.slot.id}.{self.try_number}.{secrets.token_hex(4)}"

    def lose(self) -> None:
        """Note that the slot is another process's now, and stop the agent's work."""
        self.lost = True
        if self.working is not None:
            self.working.cancel()

    def timed(self, phase: str) -> _Phase:
        """Measure a phase of our own work, in seconds."""
        return _Phase(self.phases, phase)


class _Phase:
    def __init__(self, phases: dict[str, float], name: str) -> None:
        self._phases, self._name = phases, name

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        spent = time.monotonic() - self._start
        self._phases[self._name] = round(self._phases.get(self._name, 0.0) + spent, 6)
