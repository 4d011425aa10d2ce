"""Deliverables in a store, and browsers of their content origin that talk to it through ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from people.worlds import Clock
from viewing import material
from worksample.app import AppConfig
from worksample.app.content_origin import content_app
from worksample.app.content_origin.capability_hosts import Capabilities
from worksample.app.prerendering.view_preparer import ViewPreparer
from worksample.app.server.route_services import AppServices
from worksample.app.workstations.workstation_actions import Workstations
from worksample.people import People
from worksample.people.clock import moment
from worksample.records import Entry, EntryKind, Manifest
from worksample.store import Store, put_canonical


class Shelf:
    """A store with somebody signed in, and the content origin over it. `name`: of the person."""

    def __init__(self, folder: Path, name: str = "ada") -> None:
        self.folder, self.clock = folder, Clock()
        self.store = Store.open(folder / "s", create=True)
        people = People(self.store, clock=self.clock)
        self.config = AppConfig()
        self.services = AppServices(
            config=self.config,
            store=self.store,
            people=people,
            capabilities=Capabilities(self.store, self.clock),
            view_preparer=ViewPreparer(self.store, self.config),
            workstations=Workstations(self.store, lambda: moment(self.clock())),
        )
        self.account = people.accounts.accept(people.accounts.invite(("evaluator",)), name, None)
        self.token = people.accounts.open_session(self.account)  # a password is a tenth of a second each time
        self.app = content_app(self.services)
        self.count = 0

    def taken(self, files: Mapping[str, bytes | str]) -> str:
        """The digest of these files' manifest."""
        self.count += 1
        return self.kept(material.take(self.store, self.folder / f"w{self.count}", files))

    def kept(self, manifest: Manifest) -> str:
        return put_canonical(self.store.blobs, manifest.plain())

    def listed(self, paths: Sequence[str]) -> str:
        """A manifest of tiny files that never lay on a disk."""
        blob = self.store.blobs.put(b"x")
        entries = [Entry(path=p, kind=EntryKind.FILE, size=1, blob=blob) for p in sorted(paths)]
        return self.kept(Manifest(entries=tuple(entries)))

    def label(self, manifest: str, hidden: Sequence[str] = (), pane: str = "AD-1") -> str:
        return self.services.capabilities.mint_all(self.token, self.account.id, "item", {pane: manifest}, hidden)[pane]

    def client(self, manifest: str, hidden: Sequence[str] = (), pane: str = "AD-1") -> httpx.AsyncClient:
        """A browser at one deliverable's address."""
        return self.at(self.config.content_origin(self.label(manifest, hidden, pane)))

    def at(self, origin: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=origin)

    def open(self, files: Mapping[str, bytes | str], hidden: Sequence[str] = ()) -> httpx.AsyncClient:
        return self.client(self.taken(files), hidden)

    def close(self) -> None:
        self.store.close()


async def viewed(client: httpx.AsyncClient, *paths: str) -> dict[str, Any]:
    """The view, waited for as the viewer does."""
    async with asyncio.timeout(300):
        while (response := await client.get("/.worksample/view", params={"path": list(paths)})).status_code == 202:
            assert response.json()["state"] == "converting"
            await asyncio.sleep(0.1)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found
