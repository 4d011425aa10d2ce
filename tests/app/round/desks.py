"""A small store behind the real app, and a browser for each of its people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page

from app.round.driving import Watch, desk_of, enter, serving
from people.worlds import Clock, Office
from worksample.app.server.http_server import BoundSocket
from worksample.people.clock import now_in_microseconds
from worksample.store import Store


class RunningClock(Clock):
    """The machine's, and ahead of it by what was passed."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0

    def __call__(self) -> int:
        return now_in_microseconds() + self.now


@dataclass
class Desks:
    """`office`: what the store holds. Every page is watched."""

    office: Office
    browser: Browser
    served: BoundSocket
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.served.config.host)

    def stranger(self, *, dark: bool = False) -> Page:
        """Nobody's browser yet."""
        return desk_of(self.browser, self.served, self.watch, dark=dark)

    def sit(self, name: str, *roles: str, dark: bool = False) -> Page:
        """A new account that has read the instructions, signed in."""
        account = self.office.hire(name, *roles)
        return enter(self.stranger(dark=dark), self.office.people.accounts.one_time_link(account.name))


@contextmanager
def desks(
    browser: Browser, folder: Path, kind: type[Office] = Office, *, agents: int = 2, projects: int = 2,
    judges: Path | None = None,
) -> Iterator[Desks]:  # fmt: skip
    """An office with its server, until the block ends; then nothing may have been done that must not."""
    office = kind(Store.open(folder / "s", create=True), agents=agents, projects=projects, clock=RunningClock())
    try:
        with serving(office.store, office.clock, judges=judges) as served:
            found = Desks(office, browser, served)
            yield found
            for context in browser.contexts:
                context.close()
            found.watch.check()
    finally:
        office.store.close()
