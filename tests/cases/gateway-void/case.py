"""58 odd requests, of which 19 ended the trial ungraded and 3 were not answered at all."""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

from models.test_gateway import gateway_of, raw, request, status
from openai_server import says

REQUESTS = Path(__file__).with_name("requests.jsonl").read_text(encoding="utf-8").splitlines()


def check(room: Path, request: Any) -> None:
    """Every request is answered, and none ends the work."""
    warnings.filterwarnings("ignore", "The 'initial' parameter", DeprecationWarning)  # the engine's
    asyncio.run(_asked())


async def _asked() -> None:
    async with gateway_of([says("ok")]) as (gateway, port, _):
        gateway.names = ("m",)
        for line in REQUESTS:
            one = json.loads(line)
            answer = await raw(port, request(one["body"].encode("latin-1"), one["path"]))
            assert status(answer) in (200, 400), (one["name"], answer[:300])
            assert gateway.failure.error is None, (one["name"], gateway.failure.error)
