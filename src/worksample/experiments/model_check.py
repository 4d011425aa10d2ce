"""Check of every agent's model before the first trial: provider, key, settings, price, and one short call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from worksample.agents.agent_builder import model_of
from worksample.errors import Cause, ModelKeyError, PlanError, WorksampleError
from worksample.models import ModelService, Price, resolve
from worksample.models.call_failure import failure_of_call, refused_because, status_of
from worksample.models.request_account import is_estimated
from worksample.models.service_config import Services, service_for
from worksample.records import Agent

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from .config import ExperimentConfig

ASKED = "Call the tool `ready`. If you cannot call tools, answer with the word ready."
SECONDS = 120.0
"""Time limit of the short call to a model, in seconds."""
NEXT = "look up keys, addresses and names in docs/how-to/choose-an-agent.md, then worksample model check"
ADDRESS = (
    "check the model's name and the address {}: OpenAI-style ones end in /v1, Anthropic's do not"
    " (docs/how-to/choose-an-agent.md)"
)
ANYWAY = "to run without this check: --no-check-models, or check_models = false in the file"
ESTIMATES = " by estimate: the service reports none"
SAME = frozenset({"replay", "mockllm"})
"""Names of the providers that run within this process. Their models need no check."""


@dataclass(frozen=True)
class ModelCheckResult:
    """Result of checking an agent's model. `fault` is the provider's reason why the model cannot be used, or "" if it
    can.
    """

    agent: str
    model: str
    fault: str = ""
    next: str = ""
    priced: bool = False
    answered: str = ""
    """Description of the model's answer to the short call; "" if no call was made."""
    estimated: bool = False
    """True if the model's service reports no token counts. The tokens and costs of a run are then estimated from the
    text.
    """
    cached: int = 0
    """Number of tokens of the call that were read from the service's cache or written to it."""
    passing: bool = False
    """True if the fault is temporary: the service is busy. A run retries its calls, so it may succeed."""
    cause: Cause | None = None
    """Cause of the fault that the call revealed; None if no call failed."""

    @property
    def sound(self) -> bool:
        return not self.fault

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return {**asdict(self), "sound": self.sound}


def service_of(model: str | None, services: Services, prices: Mapping[str, Price]) -> ModelService:
    """Return the settings with which a run of this configuration calls a model."""
    return service_for(model or "", services, prices, ModelService())


def need_models(agents: Iterable[Agent], config: ExperimentConfig) -> None:
    """Check the provider, key and settings of each agent's model without sending a request. Raises PlanError if one
    cannot be used.
    """
    for agent in agents:
        model_of(agent, service_of(agent.model, config.services, config.prices))
    judges = (model for judge in config.judges.values() for model in judge.models)
    for model in (*config.roles.values(), *judges):
        resolve(model, service_of(model, config.services, config.prices))


def check_models(
    agents: Iterable[Agent], config: ExperimentConfig, *, call: bool = True
) -> tuple[ModelCheckResult, ...]:
    """Check the model of each agent that has one. With `call`, also send the model one request with a tool, in the form
    that the agent uses.
    """
    return asyncio.run(_all(_calling(agents), config, call))


def prove_models(agents: Iterable[Agent], config: ExperimentConfig) -> tuple[ModelCheckResult, ...]:
    """Send one short request to each model of `agents`, with each combination of its settings. Return the results.

    If the run would fail, raises ModelKeyError or PlanError with the provider's message. A temporary fault raises
    nothing.
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
    # One try each: a fault should be reported now, not after half an hour of retries.
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
        # Close the models: their connections belong to this event loop, and a run has another one.
        async with asyncio.timeout(SECONDS), model:
            answer = await model.generate([ChatMessageUser(content=ASKED)], tools=[ready])
    except TimeoutError:
        return replace(found, fault=f"the model did not answer within {SECONDS:.0f} seconds", next=NEXT, passing=True)
    except Exception as error:  # noqa: BLE001 - a provider's client: whatever it raises is what is wanted to be known
        failure = failure_of_call(error)
        status = status_of(error)
        passing = failure.cause is Cause.MODEL_ERROR and status is not None
        if status is not None:
            step = ADDRESS.format(model.api.base_url) if status == 404 and model.api.base_url else NEXT
            return replace(found, fault=failure.reason, next=step, passing=passing, cause=failure.cause)
        # If nobody answered, check the address first.
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
    """Return the URL to which requests for a model are sent, if the provider's object has this URL."""
    client = getattr(model.api, "client", None)
    return str(model.api.base_url or getattr(client, "base_url", "") or "")
