"""Scripted experts for demos and tests. They judge through the app as a browser does: sign in, claim, read, submit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from worksample.app.config import AppConfig
from worksample.app.server.application import create_app
from worksample.errors import StoreError
from worksample.people import People
from worksample.people.access.account_activity import counted_until
from worksample.people.clock import MINUTE, Clock, now_in_microseconds
from worksample.store import Store

API = "/api/v1"
_NO_LIMIT = 10**9
_NEXT = "read the log of worksample serve"
Answer = Callable[[dict[str, Any], dict[str, str]], dict[str, Any]]
"""Function from an item as the app shows it, and the delivered texts by path, to the payload of an answer."""


@dataclass
class ManualClock:
    """A clock that advances only when somebody works. `now`: microseconds since 1970."""

    now: int

    def __call__(self) -> int:
        return self.now

    def advance(self, to: int) -> None:
        """Set the clock to a later time; an earlier one changes nothing."""
        self.now = max(self.now, to)


_YEAR = 365 * 24 * 60 * MINUTE


def working_clock(dates: Clock = now_in_microseconds) -> ManualClock:
    """Return a clock for scripted experts, so far in the past that their work never reaches into the future."""
    return ManualClock(dates() - _YEAR)


@dataclass
class ScriptedExperts:
    """Experts who answer every open item. `minutes`: the time that each of them takes for an item.

    `clock` times their work, which passes in an instant; `dates` dates their answers. The clock continues where these
    experts' counted time ends, because nobody's time is counted twice.
    """

    store: Store
    answer: Answer
    clock: ManualClock = field(default_factory=working_clock)
    minutes: float = 10
    names: Sequence[str] = field(default=("expert-1", "expert-2"))
    dates: Clock = now_in_microseconds

    def judge(self) -> int:
        """Let each expert answer items until none is left. Return the number of answers."""
        self._hire()
        return asyncio.run(self._judge())

    def _hire(self) -> None:
        people = People(self.store, clock=self.dates)
        known = {account.name for account in people.accounts.all()}
        for name in self.names:
            if name not in known:
                people.read_training(people.accounts.accept(people.accounts.invite(("expert",)), name, None))
        self.clock.advance(counted_until(self.store, self.names))

    async def _judge(self) -> int:
        import httpx

        # Their minutes pass in an instant of the server's clock, which limits writes.
        config = AppConfig(writes_per_minute=_NO_LIMIT)
        app = create_app(self.store, config, clock=self.clock, dates=self.dates)
        transport = httpx.ASGITransport(app)
        count = 0
        for name in self.names:
            async with httpx.AsyncClient(transport=transport, base_url=config.app_origin) as client:
                count += await _ExpertSession(self, client, config).work(name)
        return count


@dataclass
class _ExpertSession:
    """A scripted expert's session in the app."""

    experts: ScriptedExperts
    client: Any
    config: AppConfig
    csrf: str = ""

    async def work(self, name: str) -> int:
        token = People(self.experts.store, clock=self.experts.clock).accounts.one_time_link(name)
        self.csrf = (await self._post("/session/link", {"token": token}))["csrf"]
        count = 0
        while item := await self._post("/claims", {}):
            text = await self._texts(item)
            self.experts.clock.now += int(self.experts.minutes * 60e6)
            body = {"payload": self.experts.answer(item, text), "key": item["id"]}
            await self._post(f"/items/{item['id']}/submit", {**body, "active_seconds": self.experts.minutes * 60})
            count += 1
        return count

    async def _texts(self, item: dict[str, Any]) -> dict[str, str]:
        """Read the delivered files from the content origin, by path."""
        pane = next((p for p in item["shown"] if p["label"] == "Deliverable" and p["content"]), None)
        if pane is None:
            return {}
        names = await self._get(f"{pane['content']}/.worksample/files")
        paths = [entry["path"] for entry in names.json()["entries"]]
        found = {}
        for path in paths:
            found[path] = (await self._get(f"{pane['content']}/.worksample/original", path=path)).text
        return found

    async def _get(self, url: str, **params: str) -> Any:
        answer = await self.client.get(url, params=params)
        if answer.status_code != 200:
            raise StoreError(f"the app answered {answer.status_code}: {answer.text[:300]}", where=url, next=_NEXT)
        return answer

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the response; empty for 204. Raises StoreError if the app refuses it."""
        headers = {"Sec-Fetch-Site": "same-origin", "Origin": self.config.app_origin, "X-CSRF-Token": self.csrf}
        answer = await self.client.post(API + path, json=body, headers=headers)
        if answer.status_code not in (200, 204):
            raise StoreError(f"the app answered {answer.status_code}: {answer.text[:300]}", where=path, next=_NEXT)
        found: dict[str, Any] = answer.json() if answer.status_code == 200 else {}
        return found
