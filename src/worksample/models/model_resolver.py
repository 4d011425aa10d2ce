"""Resolve model names to Inspect's models."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from worksample.errors import PlanError
from worksample.extras import package_command
from worksample.files.config_files import Faults, validate
from worksample.files.config_files.config_faults import nearest

from .price import Price, register_prices
from .reported_usage import read_usage
from .request_metering import gate_calls, meter_requests
from .response_validation import require_answers
from .send_observer import observe_sending
from .storable_text import scrub_answers

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI

CHARACTERS_PER_TOKEN = 3.5
MAKERS = (("gpt", "openai"), ("o3", "openai"), ("o4", "openai"), ("claude", "anthropic"), ("gemini", "google"))
"""Pairs of a name's prefix and a provider. They suggest a provider for a model name without one."""
_PREPARED: WeakSet[ModelAPI] = WeakSet()
"""Provider objects that are already prepared. Inspect returns the same provider object for the same arguments."""


@dataclass(frozen=True)
class ModelService:
    """Settings for calling models. Times are in seconds."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    retries: int | None = 5
    """Maximum number of retries of one request after a fault of the service. The provider's own client makes none. None
    means: retry until the time limit of the trial.
    """
    timeout: float | None = 1800
    """Maximum seconds of one request, including all retries."""
    try_timeout: float | None = 600
    """Maximum seconds of one try of a request."""
    connections: int | None = None
    """Maximum number of simultaneous requests per model. None means the provider's default."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of Inspect's provider, such as `base_url`."""


def resolve(name: str, service: ModelService, generation: Mapping[str, Any] | None = None) -> Model:
    """Return the model with this name (`provider/model`, as in Inspect), and register its price.

    `generation` contains settings such as `temperature` or `reasoning_effort`. Raises PlanError for an unknown
    provider, a missing API key or an unknown setting.
    """
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import GenerateConfig, get_model

    check_generation(generation or {}, where=f"agent with model {name}")
    register_prices(service.prices)
    config = GenerateConfig(
        max_retries=service.retries,
        timeout=None if service.timeout is None else int(service.timeout),
        attempt_timeout=None if service.try_timeout is None else int(service.try_timeout),
        max_connections=service.connections,
    ).merge(GenerateConfig(**(generation or {})))
    try:
        model = get_model(name, config=config, **service.args)
    except (PrerequisiteError, ValueError, ImportError) as error:
        raise _unusable(name, _plain(str(error))) from error
    if model.api not in _PREPARED:
        _PREPARED.add(model.api)
        read_usage()
        _count_here(model.api)
        _end_retries(model.api)
        meter_requests(model.api, name)
        observe_sending(model.api)
        scrub_answers(model.api)
        require_answers(model.api)
    gate_calls(model)
    return model


def check_generation(generation: Mapping[str, Any], where: str) -> None:
    """Check settings for generating answers. Raises PlanError if Inspect does not know a setting, or if a setting has
    an impossible value.
    """
    from inspect_ai.model import GenerateConfig

    faults, file = Faults(), "generation"
    known = {key: value for key, value in generation.items() if key in GenerateConfig.model_fields}
    for key in sorted(set(generation) - set(known)):
        faults.add(file, key, f"is not a generation setting{nearest(key, GenerateConfig.model_fields)}")
    validate(GenerateConfig, known, faults, file=file)
    if faults.found:
        raise PlanError("; ".join(map(str, faults.found)), where=where, next="see docs/how-to/choose-an-agent.md")


def _plain(text: str) -> str:
    """Return an error message of Inspect on a single line."""
    lines = (" ".join(line.split()) for line in re.sub(r"\[/?[a-z ]*\]", "", text).splitlines())
    told = [line for line in lines if line]
    ended = [line if line[-1] in ".:;," else f"{line}:" for line in told[:-1]]
    return " ".join([*ended, *told[-1:]]).removeprefix("ERROR: ")


def _unusable(name: str, said: str) -> PlanError:
    """Build the error for a model that cannot be used. It tells the user what to type: the full model name, the
    environment variable of the key, or the pip command for the provider's package.
    """
    provider, slash, model = name.partition("/")
    if not slash:
        whole = next((f"{maker}/{name}" for begins, maker in MAKERS if name.startswith(begins)), f"PROVIDER/{name}")
        return PlanError(f"{name!r} has no provider; write PROVIDER/MODEL", next=f"--model {whole}")
    if "not recognized" in said:
        known = _providers()
        near = difflib.get_close_matches(provider, known, 1)
        return PlanError(
            f"there is no provider {provider!r}; known are: {', '.join(known)}",
            next=f"--model {near[0]}/{model}" if near else "--model PROVIDER/MODEL (docs/how-to/choose-an-agent.md)",
        )
    key = re.search(r"\b[A-Z][A-Z0-9_]*_API_KEY\b", said)
    package = re.search(r"\bpip install ([\w.\[\]-]+)", said)
    address = re.search(r"\b[A-Z][A-Z0-9_]*_BASE_URL\b", said)
    step = "check the provider's package and its API key (docs/how-to/choose-an-agent.md)"
    if package:
        step = package_command(package[1])
    elif address:
        step = f"--base-url http://localhost:8000/v1, or export {address[0]}=... (docs/how-to/choose-an-agent.md)"
    elif key:
        step = f"export {key[0]}=... (docs/how-to/choose-an-agent.md: keys, addresses and names of each provider)"
    return PlanError(f"the model {name} cannot be used: {said}", next=step)


def _providers() -> list[str]:
    """Return the names of all providers of Inspect and of installed packages."""
    from inspect_ai._util.registry import registry_find, registry_info

    found = registry_find(lambda info: info.type == "modelapi")
    return sorted({registry_info(one).name.rpartition("/")[2] for one in found} - {"none", "mockllm"})


def _end_retries(api: ModelAPI) -> None:
    """Stop a provider's client from retrying requests, because the platform retries them.

    Some providers create a new client after a fault, so later clients are changed as well.
    """
    initialize = api.initialize

    def initialize_without() -> None:
        initialize()
        _set_none(api)

    api.initialize = initialize_without  # type: ignore[method-assign]
    _set_none(api)


def _set_none(api: ModelAPI) -> None:
    client = getattr(api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0  # type: ignore[union-attr]


def _count_here(api: ModelAPI) -> None:
    """Replace the counting of tokens by an estimate from the length of the text, if the provider would have to download
    a vocabulary or cannot count.

    The count only decides when a long conversation is compacted. If the service is down, the next call fails, and that
    failure is classified and retried.
    """
    import inspect

    from inspect_ai.model import ModelAPI

    async def estimate(text: str) -> int:
        return max(1, round(len(text) / CHARACTERS_PER_TOKEN))

    counter = type(api).count_text_tokens
    if counter is ModelAPI.count_text_tokens or "tiktoken" in inspect.getsource(counter):
        api.count_text_tokens = estimate  # type: ignore[method-assign]
    if type(api).count_tokens is ModelAPI.count_tokens:
        return
    asked = api.count_tokens

    async def count_or_estimate(input: str | list[ChatMessage], config: GenerateConfig | None = None) -> int:
        from inspect_ai.model._tokens import count_tokens

        try:
            return await asked(input, config)
        except Exception:  # noqa: BLE001 - whatever a provider's client raises; compatible servers often cannot count
            if isinstance(input, str):
                return await estimate(input)
            return await count_tokens(input, estimate, api.count_media_tokens)

    api.count_tokens = count_or_estimate  # type: ignore[method-assign]
