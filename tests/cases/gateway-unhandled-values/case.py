"""`tool_choice: [1]` and a temperature of 10**400 raised out of the gateway: no answer came."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Any

from models.test_gateway import gateway_of, raw, request, status
from openai_server import says

BODY = b'{"model":"model-1","messages":[{"role":"user","content":"x"}],%s}'
VALUES = (b'"tool_choice":[1]', b'"temperature":1e400', b'"temperature":1' + b"0" * 400, b'"stop":[[]]', b'"n":{}')


def check(room: Path, request: Any) -> None:
    """Each is refused in the dialect."""
    warnings.filterwarnings("ignore", "The 'initial' parameter", DeprecationWarning)  # the engine's
    asyncio.run(_asked())


async def _asked() -> None:
    async with gateway_of([says("ok")]) as (gateway, port, _):
        for value in VALUES:
            assert status(await raw(port, request(BODY % value))) == 400, value
        both = b'{"model":"model-1","input":"x","tool_choice":[1]}'
        assert status(await raw(port, request(both, "/v1/responses"))) == 400
        assert gateway.failure.error is None
