"""Replies of a workplace's keeper, over a fake box."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from types import SimpleNamespace

from worksample.tasks.workplace_settings import WORKPLACE
from worksample.workplace.keeper import ALL_VERBS, Keeper


class Gone:
    """A box whose services are not reached any more."""

    async def connect(self, name: str) -> None:
        raise ConnectionRefusedError(111, "Connection refused")


@dataclass
class Heard:
    """The end of a line that keeps what was said."""

    data: bytes = b""

    def write(self, data: bytes) -> None:
        self.data += data

    async def drain(self) -> None: ...

    def close(self) -> None: ...


async def test_failed_reset_names_the_commands_to_restart() -> None:
    services = SimpleNamespace(boxes=[(Gone(), [SimpleNamespace(spec=SimpleNamespace(name=WORKPLACE))])])
    keeper = Keeper(services, {}, {"name": "firm", "from": "/srv/firm"}, ALL_VERBS)  # type: ignore[arg-type]
    asked, heard = asyncio.StreamReader(), Heard()
    asked.feed_data(b'{"verb": "reset"}\n')
    await keeper.converse(asked, heard)  # type: ignore[arg-type]
    told = json.loads(heard.data)
    assert told["failed"].startswith("the services cannot be reached")
    assert told["next"] == "worksample workplace down --name firm, then worksample workplace up /srv/firm --name firm"
