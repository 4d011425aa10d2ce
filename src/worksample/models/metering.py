"""Every request to a model stands in the account of whoever makes it, whichever way it is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .http_exchanges import hook, record
from .request_account import CURRENT, ModelAccount, Most, SentRequest, estimate
from .storable_text import scrubbed
from .token_estimate import Size, size_of_request

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI
    from inspect_ai.tool import ToolInfo

SCRIPTED = frozenset({"mockllm", "script", "replay"})
"""Providers within this process: what they say of tokens is what somebody wrote, and nothing is estimated."""


def meter(api: ModelAPI, name: str) -> None:
    """Book every request of a provider, and estimate the tokens that its service does not tell."""
    generate, scripted = api.generate, name.partition("/")[0] in SCRIPTED

    async def metered(input: list[ChatMessage], tools: list[ToolInfo], tool_choice: Any, config: GenerateConfig) -> Any:
        account, size = CURRENT.get(), size_of_request(input, tools)
        sent = SentRequest(name, _most(account, name, size, config, api), size.tokens)

        async def send() -> Any:
            sent.told = hook(api)
            sent.exchanges = record()
            result = await generate(input=input, tools=tools, tool_choice=tool_choice, config=config)
            output = result[0] if isinstance(result, tuple) else result
            if not scripted and not isinstance(output, Exception):
                estimate(output, size.tokens)
            return result

        return await (send() if account is None else account.send(send(), sent))

    api.generate = metered  # type: ignore[method-assign]


def gate(model: Model) -> None:
    """Let a model's calls wait until the limits of whoever makes them have room for what each can take at most.

    By its class, since the engine copies models to give them roles.
    """
    from inspect_ai.model import Model

    if type(model) is Model:
        model.__class__ = _gated()


@cache
def _gated() -> type[Model]:
    from inspect_ai.model import ChatMessageUser, GenerateConfig, Model

    class GatedModel(Model):
        """A model whose calls wait for room. Its questions can be kept, whatever an agent of Python puts into them."""

        async def generate(  # type: ignore[override]
            self, input: str | list[ChatMessage], tools: Any = (), tool_choice: Any = None, config: Any = None,
            **more: Any,
        ) -> Any:  # fmt: skip
            input = scrubbed(input)
            account, config = CURRENT.get(), config or GenerateConfig()
            asked: dict[str, Any] = {"tools": tools, "tool_choice": tool_choice, "config": config, **more}
            if account is None or (account.cost is None and account.tokens is None):
                return await super().generate(input, **asked)
            messages = [ChatMessageUser(content=input)] if isinstance(input, str) else input
            size = size_of_request(messages, _infos(tools))
            async with account.reserved(_most(account, str(self), size, self.config.merge(config), self.api)):
                return await super().generate(input, **asked)

    return GatedModel


def _infos(tools: Any) -> Iterable[ToolInfo]:
    """Those of a call's tools that say at once what a model is told of them."""
    from inspect_ai.tool import ToolDef, ToolInfo

    for tool in tools if isinstance(tools, Sequence) else ():
        if isinstance(tool, ToolInfo):
            yield tool
        elif isinstance(tool, ToolDef):
            yield ToolInfo(name=tool.name, description=tool.description, parameters=tool.parameters)


def _most(account: ModelAccount | None, name: str, size: Size, config: GenerateConfig, api: ModelAPI) -> Most:
    from inspect_ai.model import get_model_info

    info = get_model_info(name)
    answer = config.max_tokens or api.max_tokens_for_config(config) or api.max_tokens() or (info and info.output_tokens)
    price = account.prices.get(name) if account is not None else None
    return Most(size.tokens_at_most, (answer * (config.num_choices or 1)) if answer else None, price)
