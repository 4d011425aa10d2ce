"""A service that cannot count tokens costs no trial; Inspect asks Anthropic's to, and compatible ones often cannot."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelAPI, ModelOutput, modelapi

from worksample.models import ModelService, resolve


class NoPlace(Exception):
    """As a provider's client raises where its server answers 404."""

    status_code = 404


class Miscounting(ModelAPI):
    """A service that answers and does not count."""

    async def generate(self, *_: Any, **__: Any) -> ModelOutput:
        return ModelOutput.from_content(self.model_name, "ready")

    async def count_tokens(self, input: str | list[ChatMessage], config: GenerateConfig | None = None) -> int:
        raise NoPlace("no such place")


@modelapi("miscounting")
def miscounting() -> type[ModelAPI]:
    return Miscounting


async def test_tokens_are_estimated_if_a_service_does_not_count() -> None:
    model = resolve("miscounting/x", ModelService())
    assert await model.count_tokens("a" * 700) == 200
    messages: list[ChatMessage] = [ChatMessageUser(content="a" * 700)] * 3
    assert 600 <= await model.count_tokens(messages) <= 700
    assert resolve("miscounting/x", ModelService()).api is model.api
    assert await model.count_tokens("a" * 700) == 200
