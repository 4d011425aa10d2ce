"""Every agent's model proven before the first trial is paid for: provider, key, settings, price, and one short call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from worksample.agents.agent_builder import model_of
from worksample.errors import Cause, ModelKeyError, PlanError, WorksampleError
from worksample.models import ModelService, Price, resolve
from worksample.models.failure import failure_of_call, refused_because, status_of
from worksample.models.request_account import is_estimated
from worksample.models.service_config import Services, service_for
from worksample.records import Agent

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from .config import ExperimentConfig

ASKED = "Call the tool `ready`. If you cannot call tools, answer with the word ready."
SECONDS = 120.0
"""What the one call may take."""
NEXT = "look up keys, addresses and names in docs/providers.md, then worksample model check"
ADDRESS = (
    "check the model's name and the address {}: OpenAI's kind ends in /v1, Anthropic's does not (docs/providers.md)"
)
ANYWAY = "to run without asking: --no-check-models, or check_models = false in the file"
ESTIMATES = " by estimate: the service tells none"
SAME = frozenset({"replay", "mockllm"})
"""Providers within this process: there is nothing to find out."""


@dataclass(frozen=True)
class ModelCheckResult:
    """What was found out about the model of an agent. `fault`: why it cannot work, in the provider's own words."""

    agent: str
    model: str
    fault: str = ""
    next: str = ""
    priced: bool = False
    answered: str = ""
    """What came of the one call, in words; "" where none was made."""
    estimated: bool = False
    """Whether the service tells no tokens, so that a run's tokens and costs are estimated from the text."""
    cached: int = 0
    """Tokens of the one call that the service's cache had to do with."""
    passing: bool = False
    """Of a fault: the service is there and busy, so that a run, which tries again, may still get through."""
    cause: Cause | None = None
    """Of a fault that the call showed."""

    @property
    def sound(self) -> bool:
        return not self.fault

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {**asdict(self), "sound": self.sound}


def service_of(model: str | None, services: Services, prices: Mapping[str, Price]) -> ModelService:
    """How the model is called in a run of this configuration."""
    return service_for(model or "", services, prices, ModelService())


def need_models(agents: Iterable[Agent], config: ExperimentConfig) -> None:
    """PlanError where a model that takes part cannot be had: its provider, key or settings. Nothing is called."""
    for agent in agents:
        model_of(agent, service_of(agent.model, config.services, config.prices))
    judges = (model for judge in config.judges.values() for model in judge.models)
    for model in (*config.roles.values(), *judges):
        resolve(model, service_of(model, config.services, config.prices))


def check_models(
    agents: Iterable[Agent], config: ExperimentConfig, *, call: bool = True
) -> tuple[ModelCheckResult, ...]:
    """Each agent that calls a model, looked at; with `call` its model is asked once, with a tool, as the agent asks."""
    return asyncio.run(_all(_calling(agents), config, call))


def prove_models(agents: Iterable[Agent], config: ExperimentConfig) -> tuple[ModelCheckResult, ...]:
    """One short call to each model of `agents` with each of its settings; what was found, for whoever wants to tell it.

    ModelKeyError or PlanError, in the provider's words, where the run would fail; what passes by itself raises nothing.
    """
    each = {(a.model, json.dumps(a.settings.get("generation"), sort_keys=True)): a for a in _calling(agents)}
    found = asyncio.run(_all(list(each.values()), config, call=True))
    faulty = [one for one in found if one.fault and not one.passing]
    if faulty:
        kind = ModelKeyError if any(one.cause is Cause.MODEL_KEY for one in faulty) else PlanError
        words = dict.fromkeys(f"{one.model}: {one.fault}" for one in faulty)
        raise kind(f"nothing was run: {'; '.join(words)}", next=f"{faulty[0].next}; {ANYWAY}")
    return found


def _calling(agents: Iterable[Agent]) -> list[Agent]:
    return [a for a in agents if a.model and a.harness != "scripted" and a.model.partition("/")[0] not in SAME]


async def _all(agents: list[Agent], config: ExperimentConfig, call: bool) -> tuple[ModelCheckResult, ...]:
    return tuple(await asyncio.gather(*(_check_model(agent, config, call) for agent in agents)))


async def _check_model(agent: Agent, config: ExperimentConfig, call: bool) -> ModelCheckResult:
    found = ModelCheckResult(agent.name, agent.model or "", priced=agent.model in config.prices)
    service = service_of(agent.model, config.services, config.prices)
    # One try each: what a fault says is wanted now, not after half an hour of pauses.
    quick = replace(service, retries=0, timeout=SECONDS, try_timeout=min(SECONDS, service.try_timeout or SECONDS))
    try:
        model = model_of(agent, quick)
    except WorksampleError as error:
        return replace(found, fault=error.what, next=error.next)
    return await _ask(found, model) if call and model is not None else found


async def _ask(found: ModelCheckResult, model: Model) -> ModelCheckResult:
    from inspect_ai.model import ChatMessageUser
    from inspect_ai.tool import ToolInfo

    ready = ToolInfo(name="ready", description="Says that you are ready.")
    try:
        # Closed here: its connections belong to this event loop, and a run has another.
        async with asyncio.timeout(SECONDS), model:
            answer = await model.generate([ChatMessageUser(content=ASKED)], tools=[ready])
    except TimeoutError:
        return replace(found, fault=f"no answer within {SECONDS:.0f} seconds", next=NEXT, passing=True)
    except Exception as error:  # noqa: BLE001 - a provider's client: whatever it raises is what is wanted to be known
        failure = failure_of_call(error)
        status = status_of(error)
        passing = failure.cause is Cause.MODEL_ERROR and status is not None
        if status is not None:
            step = ADDRESS.format(model.api.base_url) if status == 404 and model.api.base_url else NEXT
            return replace(found, fault=failure.reason, next=step, passing=passing, cause=failure.cause)
        # Where nobody answered, the address is what to look at.
        place = _address(model)
        why = ": ".join(filter(None, (failure.reason.rstrip("."), refused_because(error))))
        at = f" ({place})" if place else ""
        step = f"see whether something answers there: curl -sS {place or 'ADDRESS'}; another address: --base-url"
        return replace(found, fault=why + at, next=step, cause=failure.cause)
    called = any(choice.message.tool_calls for choice in answer.choices)
    used = answer.usage
    cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0) if used else 0
    took = "" if used is None else f", {used.total_tokens} tokens"
    took += ESTIMATES if is_estimated(answer) else f", {cached} of them cached" if cached else ""
    said = "calls tools" if called else "answers, but called no tool"
    return replace(found, answered=f"{said}{took}", estimated=is_estimated(answer), cached=cached)


def _address(model: Model) -> str:
    """Where its requests go, as far as its provider says."""
    client = getattr(model.api, "client", None)
    return str(model.api.base_url or getattr(client, "base_url", "") or "")
