"""Configuration of model services: for a model, for a provider, or for all models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from worksample.records import Frozen

from .duration_text import Seconds
from .model_resolver import ModelService
from .price import Price

ALL = "*"
"""Key of the entry that applies to every model."""
_SECRET = re.compile(r"(^|_)(api_?key|key|token|secret|password)$", re.IGNORECASE)


class ServiceConfig(Frozen):
    """Settings for calling the service of a model. A missing setting is taken from the provider's entry, or else from
    the entry for all models.
    """

    base_url: str | None = Field(default=None, min_length=1)
    """Address of the service, such as `http://localhost:8000/v1`; by default as in the provider's environment
    variable.
    """
    args: dict[str, Any] = {}
    """Additional arguments of Inspect's provider, such as `azure` or `region`. Put API keys into the environment, not
    here.
    """
    connections: int | None = Field(default=None, ge=1)
    """Maximum number of simultaneous requests per model; by default as the provider sets it."""
    retries: int | None = Field(default=None, ge=0)
    """Maximum number of retries of one request after a fault of the service; by default 5."""
    answer_timeout: Seconds | None = Field(default=None, gt=0)
    """Maximum time of one try of a request, such as `90s` or `10m`; by default 10 minutes. Raise it for models that
    need more time for an answer.
    """
    request_timeout: Seconds | None = Field(default=None, gt=0)
    """Maximum time of one request including all its tries; by default 30 minutes."""

    @field_validator("base_url")
    @classmethod
    def _says_how(cls, url: str | None) -> str | None:
        if url is not None and not re.match(r"https?://[^/]", url):
            raise ValueError(
                f"{url!r} is not an address; an address begins with http:// or https://, as in http://localhost:8000/v1"
            )
        return url

    @model_validator(mode="after")
    def _has_retries_once(self) -> Self:
        if "max_retries" in self.args:
            raise ValueError("args.max_retries: the provider's client makes no retries of its own; set `retries`")
        return self

    @model_validator(mode="after")
    def _holds_no_key(self) -> Self:
        for name in self.args:
            if _SECRET.search(name):
                raise ValueError(
                    f"args.{name}: this file is stored with the results, so keep keys out of it; set the provider's "
                    "variable, such as OPENAI_API_KEY"
                )
        return self

    def over(self, other: ServiceConfig) -> ServiceConfig:
        """Return this configuration with its missing fields filled from `other`. The `args` of both are merged by
        key.
        """
        given = {name: value for name, value in self if value is not None and name != "args"}
        return other.replaced(**given, args={**other.args, **self.args})


Services = Mapping[str, ServiceConfig]


def config_for(model: str, services: Services) -> ServiceConfig:
    """Merge the entries that apply to a model: the entry of the model itself, the entries of its providers (longest
    name first), and the entry for all models.
    """
    found = ServiceConfig()
    parts = model.split("/")
    for name in (ALL, *("/".join(parts[: i + 1]) for i in range(len(parts)))):
        if name in services:
            found = services[name].over(found)
    return found


def service_for(model: str, services: Services, prices: Mapping[str, Price], default: ModelService) -> ModelService:
    """Return the settings for calling a model: those of its configuration and, for missing ones, those of `default`."""
    config = config_for(model, services)
    args = {**default.args, **config.args}
    if config.base_url is not None:
        args["base_url"] = config.base_url
    return ModelService(
        prices=prices,
        retries=default.retries if config.retries is None else config.retries,
        timeout=default.timeout if config.request_timeout is None else config.request_timeout,
        try_timeout=default.try_timeout if config.answer_timeout is None else config.answer_timeout,
        connections=default.connections if config.connections is None else config.connections,
        args=args,
    )
