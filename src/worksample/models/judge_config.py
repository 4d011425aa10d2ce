"""Configuration of judges: the models, settings, repeats and budgets of each role."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import Field

from worksample.errors import Cause, JudgeError, PlanError
from worksample.files import Sink
from worksample.records import Frozen, Protocol, Usage, digest_of

from .judge_exhibit import ExhibitLimits
from .judge_prompt import PROMPTS
from .model_resolver import ModelService
from .price import Prices, require_price
from .request_account import add_usage

RENDERING = "4"
"""Version of everything that judges see except the prompt templates. Raise it if deliverables are presented to judges
in another way, or if an instruction in `grading.judges` changes.
"""
DEFAULT = "judge"
"""Name of the role that is used if a question names no role."""


class JudgeConfig(Frozen):
    """A table `[judges.NAME]` of an experiment file. NAME is the role of the judge; `judge` is the default role."""

    model: str | tuple[str, ...]
    """A model name as in Inspect (`provider/model`). A list of names is a panel: each model judges independently."""
    repeats: int = Field(default=1, ge=1, le=100)
    """Number of times that each model judges one submission."""
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    """Sampling temperature. Set it above 0 if repeats should differ."""
    max_tokens: int = Field(default=2048, ge=16)
    """Maximum number of tokens of one answer."""
    settings: dict[str, Any] = {}
    """Other settings for generating answers, such as `reasoning_effort`."""
    timeout: float = Field(default=300, gt=0)
    """Maximum seconds for one answer, including all retries of the service."""
    tries: int = Field(default=3, ge=1, le=20)
    """Maximum number of times that a question is asked until the answer is readable. Failed requests are retried in
    addition, at most as often as the service's `retries` allow.
    """
    cost: float | None = Field(default=None, gt=0)
    """Maximum US dollars that this judge may spend on an experiment. Its models must have a price."""
    calls: int | None = Field(default=None, gt=0)
    """Maximum number of calls that this judge may make in an experiment."""
    rounds: tuple[Protocol, ...] = tuple(Protocol)
    """Protocols whose rounds this judge evaluates; by default all. Set `[]` for a judge that only graders ask."""
    characters: int = Field(default=200_000, gt=0)
    """Maximum characters of text that one question may show."""
    pictures: int = Field(default=24, ge=0)
    """Maximum number of pictures, pages and frames that one question may show."""

    @property
    def models(self) -> tuple[str, ...]:
        return (self.model,) if isinstance(self.model, str) else self.model

    @property
    def limits(self) -> ExhibitLimits:
        return ExhibitLimits(characters=self.characters, pictures=self.pictures)

    def check(self, name: str, prices: Prices) -> None:
        """Check the configuration. Raises PlanError if the panel is empty, if it names a model twice, or if a budget is
        set for a model without a price.
        """
        where = f"judges.{name}"
        if not self.models or len(set(self.models)) < len(self.models):
            raise PlanError(
                f"list at least one model, each only once (now: {', '.join(self.models) or '[]'})",
                where=where,
                next='name each once, as in models = ["provider/one", "provider/other"]',
            )
        for model in self.models if self.cost is not None else ():
            require_price(model, prices)


Waiter = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


@dataclass
class JudgeSpending:
    """Spending of a judge so far, by all callers in all threads of this process."""

    usage: Usage = field(default_factory=Usage)
    under_way: int = 0
    """Number of calls in progress."""
    reserved: float = 0.0
    """Maximum cost of the calls in progress, in US dollars."""
    _waiting: list[Waiter] = field(default_factory=list, repr=False)
    without_schema: set[str] = field(default_factory=set)
    """Names of models whose service refused a request with a schema for the answer."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    async def begin(self, name: str, config: JudgeConfig, most: float = 0.0) -> None:
        """Reserve budget for a call that can cost at most `most` US dollars. Wait as long as the calls in progress
        could use up the rest of the budget.

        If no other call is in progress, a call begins at once. Raises JudgeError with the cause `judge.limit` if the
        budget is used up.
        """
        while (waiter := self._try_begin(name, config, most)) is not None:
            await waiter

    def _try_begin(self, name: str, config: JudgeConfig, most: float) -> asyncio.Future[None] | None:
        """Begin the call and return None. If the budget has no room, return a future that completes when another call
        has finished.
        """
        with self._lock:
            calls = self.usage.calls + self.usage.unsettled + self.under_way
            cost = (self.usage.cost or 0.0) + (self.usage.unsettled_cost or 0.0)
            for key, used, cap in (("calls", calls, config.calls), ("cost", cost, config.cost)):
                if cap is not None and used >= cap:
                    raise JudgeError(
                        f"the judge's budget of {cap:g} "
        f"({key}) is used up", where=f"judges.{name}", cause=Cause.JUDGE_LIMIT,
                        next=f"raise {key} in [judges.{name}] and resume",
                    )  # fmt: skip
            if self.under_way and config.cost is not None and cost + self.reserved + most > config.cost:
                loop = asyncio.get_running_loop()
                waiter: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, waiter))
                return waiter
            self.under_way += 1
            self.reserved += most
            return None

    def end(self, used: Usage, most: float = 0.0) -> None:
        """Record the usage of a finished call, whether it was answered or not, and release its reserved budget."""
        with self._lock:
            self.under_way -= 1
            self.reserved = max(0.0, self.reserved - most) if self.under_way else 0.0
            self.usage = add_usage(self.usage, used)
            waiting, self._waiting = self._waiting, []
        for loop, waiter in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, waiter)

    def add(self, used: Usage) -> None:
        """Add usage to the spending of this judge."""
        with self._lock:
            self.usage = add_usage(self.usage, used)

    def raise_to(self, total: Usage) -> None:
        """Set the usage to `total`, the usage of all processes, if it is higher than the usage known to this
        process.
        """
        with self._lock:
            if total.requests > self.usage.requests:
                self.usage = total


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


@dataclass(frozen=True)
class ModelRole:
    """A model that answers for a role, together with the role's configuration and the model's service."""

    name: str
    model: str
    config: JudgeConfig
    service: ModelService
    sink: Sink
    """Storage for prompts and answers."""
    spent: JudgeSpending = field(default_factory=JudgeSpending)

    @property
    def version(self) -> str:
        """The version of this judge: the first 16 characters of the digest of its prompts, model, settings and
        rendering.
        """
        kept = {"temperature", "max_tokens", "settings", "characters", "pictures"}
        settings = {k: v for k, v in self.config.plain().items() if k in kept}
        return digest_of([PROMPTS, RENDERING, self.model, settings])[:16]

    @property
    def judge_service(self) -> ModelService:
        """The settings of the model's service, with the timeout of this judge."""
        seconds = self.config.timeout
        tried = seconds if self.service.try_timeout is None else min(seconds, self.service.try_timeout)
        return replace(self.service, timeout=seconds, try_timeout=tried)

    @property
    def generation(self) -> dict[str, Any]:
        given = {"temperature": self.config.temperature, "max_tokens": self.config.max_tokens, **self.config.settings}
        return {key: value for key, value in given.items() if value is not None}


Roles = Mapping[str, tuple[ModelRole, ...]]
"""Mapping from the name of a role to the models of that role, in order."""


def describe_judges(roles: Roles) -> str:
    """Return a description of the judges that graders can ask. If the description changes, submissions that waited for
    a judge are graded again.
    """
    said = (f"{r.name} {r.version}, calls {r.config.calls}, cost {r.config.cost}" for rs in roles.values() for r in rs)
    return "; ".join(sorted(said))


def judges_of(judges: Mapping[str, JudgeConfig], roles: Mapping[str, str], service: ModelService, sink: Sink) -> Roles:
    """Return the judges of an experiment: those of the tables `[judges.NAME]`, and one judge for each role in `roles`,
    which names only a model.

    Raises PlanError if `judges` and `roles` give a role different models, or if a table is invalid.
    """
    tables = dict(judges)
    for name, model in roles.items():
        if name in tables and tables[name].models != (model,):
            raise PlanError(
                f"[judges.{name}] and roles.{name} name different models: {', '.join(tables[name].models)} and {model}",
                where=f"judges.{name}", next="name the model in one place",
            )  # fmt: skip
        tables.setdefault(name, JudgeConfig(model=model))
    for name, config in tables.items():
        config.check(name, service.prices)
    found = {}
    for name, config in tables.items():
        spent = JudgeSpending()
        found[name] = tuple(ModelRole(name, model, config, service, sink, spent) for model in config.models)
    return found
