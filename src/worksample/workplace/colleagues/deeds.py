"""What a colleague may do in the services, where the scenario lets it: a comment, a document, an event, a message."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import quote

from worksample.box import Box
from worksample.errors import SandboxError
from worksample.tasks.workplace import PORTS

from .hearing import over_http
from .profile import Deed


class Does(Protocol):
    """Services in which colleagues do something."""

    async def do(self, who: str, deed: Deed) -> None:
        """Do it as `who`. SandboxError where it cannot be done."""
        ...


@dataclass(frozen=True, slots=True)
class Nothing:
    """No services: what is done is kept in the transcript, and nowhere else."""

    async def do(self, who: str, deed: Deed) -> None:
        """See Does."""


@dataclass(frozen=True, slots=True)
class Hands:
    """The services of a workplace that stands in `box`, as the operator reaches them."""

    box: Box
    operator: str

    async def do(self, who: str, deed: Deed) -> None:
        """See Does."""
        if deed.issue is not None:
            await self._issue(who, deed)
        if deed.file is not None:
            await self._put("files", f"/{quote(deed.file.path)}", deed.file.text.encode(), "text/plain")
        if deed.event is not None:
            one = deed.event
            data = event_text(f"{who}-{deed.id}", one.title, one.begins, one.ends).encode()
            await self._put("calendar", f"/{who}/calendar/{deed.id}.ics", data, "text/calendar")

    async def _issue(self, who: str, deed: Deed) -> None:
        """A change of the issue whose subject begins so, as this person."""
        assert deed.issue is not None
        one = deed.issue
        found = await self._tracker("GET", f"/issues.json?status_id=*&limit=100&subject=~{quote(one.subject)}", who)
        ids = [issue["id"] for issue in found.get("issues", ()) if str(issue["subject"]).startswith(one.subject)]
        if not ids:
            raise SandboxError(f"there is no issue {one.subject!r}", where="colleagues")
        change: dict[str, Any] = {"notes": one.note} if one.note else {}
        if one.status:
            known = (await self._tracker("GET", "/issue_statuses.json", who))["issue_statuses"]
            change["status_id"] = next(status["id"] for status in known if status["name"] == one.status)
        if one.assigned:
            users = (await self._tracker("GET", f"/users.json?name={quote(one.assigned)}", ""))["users"]
            change["assigned_to_id"] = next(user["id"] for user in users if user["login"] == one.assigned)
        await self._tracker("PUT", f"/issues/{min(ids)}.json", who, {"issue": change})

    async def _tracker(self, method: str, path: str, who: str, body: Any = None) -> dict[str, Any]:
        head = {"X-Redmine-API-Key": self.operator, **({"X-Redmine-Switch-User": who} if who else {})}
        data = b"" if body is None else json.dumps(body).encode()
        said = await over_http(
            self.box, PORTS["tracker"], method, path, head | {"Content-Type": "application/json"}, data
        )
        found = json.loads(said) if said.strip() else {}
        return found if isinstance(found, dict) else {}

    async def _put(self, service: str, path: str, data: bytes, kind: str) -> None:
        word = base64.b64encode(f"operator:{self.operator}".encode()).decode()
        head = {"Authorization": f"Basic {word}", "Content-Type": kind}
        await over_http(self.box, PORTS[service], "PUT", path, head, data)


def event_text(uid: str, title: str, begins: datetime, ends: datetime) -> str:
    """An event as a calendar keeps it."""
    times = {"DTSTAMP": begins, "DTSTART": begins, "DTEND": ends}
    lines = [f"{name}:{at.astimezone(UTC):%Y%m%dT%H%M%SZ}" for name, at in times.items()]
    head = ("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//worksample//EN", "BEGIN:VEVENT", f"UID:{uid}")
    return "\r\n".join((*head, *lines, f"SUMMARY:{title}", "END:VEVENT", "END:VCALENDAR", ""))
