"""The services' clock: the company's day on every page, moved on with the day, and back after a reset."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from worksample.sandboxes.services import open_services
from worksample.tasks.workplace_settings import PORTS
from worksample.workplace.in_box.company_time import _first_moment
from worksample.workplace.keeper import open_front_door
from worksample.workplace.workplace import advance_services, reset_services, seed_of_folder, services_box
from worksample.workplace.workplace import workplace_over_state as over

COMPANY = Path(__file__).parents[2] / "examples/invoice-1043/company"
TODAY = datetime(2026, 3, 9, 8, tzinfo=UTC)
WHO, WORD = "assistant", "paddle-and-float-26"
MOST = 30
"""Maximum pages of one service that are read."""
EVENT = """BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//test//EN\r
BEGIN:VEVENT\r
UID:made\r
DTSTAMP:20260309T090000Z\r
DTSTART:20260310T090000Z\r
DTEND:20260310T100000Z\r
SUMMARY:Coffee\r
END:VEVENT\r
END:VCALENDAR\r
"""


class Person:
    """A browser of the account that agents are given, without pictures."""

    def __init__(self, addresses: dict[str, str]) -> None:
        self.at = {name: re.sub("//[^:/]+", "//127.0.0.1", one).rstrip("/") for name, one in addresses.items()}
        self.head = {
            "Authorization": "Basic " + base64.b64encode(f"{WHO}:{WORD}".encode()).decode(), "Accept": "text/html",
        }  # fmt: skip
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

    def log_in(self) -> None:
        """Log in to the tracker, whose pages know sessions only."""
        [word, *_] = re.findall(r'name="authenticity_token" value="(.*?)"', self.ask("tracker", "/login"))
        fields = {"authenticity_token": html.unescape(word), "username": WHO, "password": WORD}
        form = urllib.parse.urlencode(fields).encode()
        assert "Sign out" in self.ask("tracker", "/login", form, kind="application/x-www-form-urlencoded")

    def ask(self, service: str, path: str, body: bytes | None = None, method: str = "", kind: str = "") -> str:
        """The text of a page; "" of what is no text or is refused."""
        heads = {**self.head, "Content-Type": kind} if kind else self.head
        given = urllib.request.Request(
            self.at[service] + path, body, heads, method=method or ("POST" if body else "GET")
        )
        try:
            with self.opener.open(given, timeout=60) as answer:
                if not re.match(r"text/|application/(json|xml|atom)", answer.headers.get("Content-Type", "")):
                    return ""
                return str(answer.read().decode("utf-8", "replace"))
        except urllib.error.HTTPError as error:
            assert error.code < 500, (service, path, error.code)
            return ""

    def press(self, page: str, button: str, **values: str) -> str:
        """Send a form of the repositories' pages."""
        text = self.ask("git", page)
        form = next(one for one in re.findall(r"<form.*?</form>", text, re.S) if f">{button}</button>" in one)
        fields = dict(re.findall(r'<input(?: type="hidden")? name="(\w+)" value="(.*?)"', form))
        action = html.unescape(re.findall(r'action="(.*?)"', form)[0])
        body = urllib.parse.urlencode({**{k: html.unescape(v) for k, v in fields.items()}, **values}).encode()
        return self.ask("git", action, body, kind="application/x-www-form-urlencoded")

    async def now(self, service: str) -> datetime:
        """The time that a service's front door tells."""
        return await asyncio.to_thread(self._now, service)

    def _now(self, service: str) -> datetime:
        with urllib.request.urlopen(self.at[service] + "/company-clock.js", timeout=60) as answer:
            return parsedate_to_datetime(answer.headers["Date"])

    def work(self) -> None:
        """Leave something with a time in every service."""
        self.log_in()
        self.ask("chat", "/api/rooms/general", b'{"text": "Good morning"}', kind="application/json")
        issue = {"issue": {"project_id": "billing", "subject": "Made today", "description": "x"}}
        self.ask("tracker", "/issues.json", json.dumps(issue).encode(), kind="application/json")
        self.ask("files", "/made.txt", b"x", "PUT")
        assert "Made" in self.press("/root/billing/-/edit/main/README.md", "Commit changes", text="Made", branch="made")
        assert "Open" in self.press("/root/billing/-/merge_requests/new?source=made", "Create merge request", title="M")
        self.press("/root/billing/-/merge_requests/1", "Comment", body="Said")
        self.press("/root/billing/-/merge_requests/1", "Approve")
        self.ask("calendar", f"/{WHO}/calendar/made.ics", EVENT.encode(), "PUT", "text/calendar")

    def pages(self, service: str) -> dict[str, str]:
        """All pages of a service that its start page leads to."""
        found: dict[str, str] = {}
        waiting = ["/", "/activity", "/api/rooms/general?newest=1"] if service in ("tracker", "chat") else ["/", "/?ls"]
        while waiting and len(found) < MOST:
            path = waiting.pop(0)
            if path in found or re.search(
                r"logout|sign_out|\.(css|js|png|gif|ico|pdf)\b|/help|\bset_filter|login|k304", path
            ):
                continue
            found[path] = self.ask(service, path)
            for one in re.findall(r'href="([^"#]+)', found[path]):
                place = urllib.parse.urljoin(path, html.unescape(one))
                if place.startswith("/") and not place.startswith("//"):
                    waiting.append(place)
        return found


@asynccontextmanager
async def office(folder: Path) -> AsyncIterator[tuple[Person, object]]:
    names = tuple(PORTS)
    seed = await asyncio.to_thread(seed_of_folder, COMPANY, names)
    made = over(names, seed.state, "test", accounts=seed.accounts)
    async with (
        open_services((made.box,), "bubblewrap") as services,
        open_front_door(folder, services, names, seed.accounts, {"name": "x", "from": "y"}) as keeper,
    ):
        yield Person(keeper.about["addresses"]), services_box(services)


def forms_of(day: datetime) -> tuple[str, ...]:
    """How pages write a day."""
    return (
        f"{day:%Y-%m-%d}", f"{day:%m/%d/%Y}", f"{day:%Y%m%d}", f"{day.day} {day:%b} {day.year}",
        f"{day.day} {day:%B} {day.year}", f"{day:%d %b %Y}", f"{day:%b} {day.day}, {day.year}", f"{day:%d.%m.%Y}",
    )  # fmt: skip


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.long(seconds=25)
async def test_no_page_tells_the_day_of_the_machine(tmp_path: Path) -> None:
    real = datetime.now(UTC)
    async with office(tmp_path) as (one, box):
        for service in PORTS:
            assert abs(await one.now(service) - TODAY) < timedelta(minutes=10), service
        await asyncio.to_thread(one.work)
        days = {text for day in (real, real - timedelta(days=1), datetime.now(UTC)) for text in forms_of(day)}
        own = set(forms_of(TODAY))
        for service in PORTS:
            pages = await asyncio.to_thread(one.pages, service)
            assert any(pages.values()), service
            wrong = {path: text for path, page in pages.items() for text in days if text in page}
            assert not wrong, service
            if service != "calendar":  # its page is made in the browser, from what is read below
                assert any(text in page for page in pages.values() for text in own), (service, list(pages))
        assert "20260310T090000Z" in await asyncio.to_thread(one.ask, "calendar", f"/{WHO}/calendar/made.ics")
        # The day goes on, and never back.
        await advance_services(box, TODAY + timedelta(days=1))  # type: ignore[arg-type]
        await advance_services(box, TODAY)  # type: ignore[arg-type]
        assert abs(await one.now("chat") - TODAY - timedelta(days=1)) < timedelta(minutes=5)
        await asyncio.to_thread(
            one.ask, "chat", "/api/rooms/general", b'{"text": "Next day"}', "POST", "application/json"
        )
        assert "2026-03-10" in await asyncio.to_thread(one.ask, "chat", "/api/rooms/general?newest=1")
        await reset_services(box)  # type: ignore[arg-type]
        assert abs(await one.now("git") - TODAY) < timedelta(minutes=5)


def test_clock_goes_on_from_the_last_request_of_a_kept_state(tmp_path: Path) -> None:
    assert _first_moment(tmp_path) is None
    (tmp_path / "workplace.json").write_text(json.dumps({"today": "2026-03-09T08:00:00+00:00"}))
    assert _first_moment(tmp_path) == TODAY.timestamp()
    (tmp_path / "log").mkdir()
    (tmp_path / "log/access.jsonl").write_text('{"at": "x"}\n{"at":"2026-03-11T10:00:00+00:00"}\n')
    assert _first_moment(tmp_path) == datetime(2026, 3, 11, 10, tzinfo=UTC).timestamp()
