"""Recording of every model request in its caller's account. A request waits until the caller's limits have room for
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .http_exchanges import hook_http_client, record_exchanges
from .request_account import CURRENT, CallLimit, ModelAccount, SentRequest, estimate
from .storable_text import scrub
from .token_estimate import Size, size_of_request

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI
    from inspect_ai.tool import ToolInfo

SCRIPTED = frozenset({"mockllm", "script", "replay"})
"""Names of providers that run in this process. Their token counts are written in scripts or recordings, so nothing is
estimated.
"""


def meter_requests(api: ModelAPI, name: str) -> None:
    """Change a provider so that each of its requests is recorded in an account, and so that token counts that its
    service does not report are estimated.
    """
    generate, scripted = api.generate, name.partition("/")[0] in SCRIPTED

    async def metered_generate(
        input: list[ChatMessage], tools: list[ToolInfo], tool_choice: Any, config: GenerateConfig
    ) -> Any:
        account, size = CURRENT.get(), size_of_request(input, tools)
        sent = SentRequest(name, _most(account, name, size, config, api), size.tokens)

        async def send() -> Any:
            sent.reports_requests = hook_http_client(api)
            sent.exchanges = record_exchanges()
            result = await generate(input=input, tools=tools, tool_choice=tool_choice, config=config)
            output = result[0] if isinstance(result, tuple) else result
            if not scripted and not isinstance(output, Exception):
                estimate(output, size.tokens)
            return result

        return await (send() if account is None else account.send(send(), sent))

    api.generate = metered_generate  # type: ignore[method-assign]


def gate_calls(model: Model) -> None:
    """Change a model so that each call waits until the caller's limits have room for the maximum usage of the call.

    The class of the model is changed, because Inspect copies models to give them roles.
    """
    from inspect_ai.model import Model

    if type(model) is Model:
        model.__class__ = _gated_class()


@cache
def _gated_class() -> type[Model]:
    from inspect_ai.model import ChatMessageUser, GenerateConfig, Model

    class GatedModel(Model):
        """A model whose calls wait until the caller's limits have room for them.

        Before a call, its messages are changed so that they can be stored, whatever a Python agent puts into them.
        """

        async def generate(  # type: ignore[override]
            self, input: str | list[ChatMessage], tools: Any = (), tool_choice: Any = None, config: Any = None,
            **more: Any,
        ) -> Any:  # fmt: skip
            input = scrub(input)
            account, config = CURRENT.get(), config or GenerateConfig()
            asked: dict[str, Any] = {"tools": tools, "tool_choice": tool_choice, "config": config, **more}
            if account is None or (account.cost is None and account.tokens is None):
                return await super().generate(input, **asked)
            messages = [ChatMessageUser(content=input)] if isinstance(input, str) else input
            size = size_of_request(messages, _infos(tools))
            async with account.reserve(_most(account, str(self), size, self.config.merge(config), self.api)):
                return await super().generate(input, **asked)

    return GatedModel


def _infos(tools: Any) -> Iterable[ToolInfo]:
    """Return the descriptions of the tools of a call. Tools whose descriptions are not known before the call are left
    out.
    """
    from inspect_ai.tool import ToolDef, ToolInfo

    for tool in tools if isinstance(tools, Sequence) else ():
        if isinstance(tool, ToolInfo):
            yield tool
        elif isinstance(tool, ToolDef):
            yield ToolInfo(name=tool.name, description=tool.description, parameters=tool.parameters)


def _most(account: ModelAccount | None, name: str, size: Size, config: GenerateConfig, api: ModelAPI) -> CallLimit:
    from inspect_ai.model import get_model_info

    info = get_model_info(name)
    answer = config.max_tokens or api.max_tokens_for_config(config) or api.max_tokens() or (info and info.output_tokens)
    price = account.prices.get(name) if account is not None else None
    return CallLimit(size.tokens_at_most, (answer * (config.num_choices or 1)) if answer else None, price)
