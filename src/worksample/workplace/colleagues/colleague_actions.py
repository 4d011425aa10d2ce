"""Deeds: actions of colleagues in the services of a workplace, if the company allows them. A deed is a comment, a
document, an event or a message.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from worksample.box import Box
from worksample.errors import SandboxError
from worksample.files.untrusted import parse_json
from worksample.tasks.workplace_settings import PORTS
from worksample.workplace.company import SeedEvent
from worksample.workplace.seed_plan import event_ics

from .chat import http_request
from .colleague_profile import Deed

MEND = "correct the deed in colleagues/PERSON.toml, then worksample workplace check FOLDER"


class DeedPerformer(Protocol):
    """Interface of the services in which colleagues do deeds."""

    async def do(self, who: str, deed: Deed) -> None:
        """Do a deed as the person `who`. Raises SandboxError if that fails."""
        ...


@dataclass(frozen=True, slots=True)
class NoServices:
    """A DeedPerformer without services. A deed appears only in the transcript."""

    async def do(self, who: str, deed: Deed) -> None:
        """Do nothing, because there are no services."""


@dataclass(frozen=True, slots=True)
class ServiceDeeds:
    """A DeedPerformer that uses the services of a workplace in `box` with the operator's rights."""

    box: Box
    operator: str

    async def do(self, who: str, deed: Deed) -> None:
        """Do a deed in the services as the person `who`. Raises SandboxError if that fails."""
        if deed.issue is not None:
            await self._issue(who, deed)
        if deed.file is not None:
            await self._upload("files", f"/{quote(deed.file.path)}", deed.file.text.encode(), "text/plain")
        if deed.event is not None:
            one = deed.event
            data = event_ics(
                f"{who}-{deed.id}", who, SeedEvent(title=one.title, begins=one.begins, ends=one.ends), one.begins
            ).encode()
            await self._upload("calendar", f"/{who}/calendar/{deed.id}.ics", data, "text/calendar")

    async def _issue(self, who: str, deed: Deed) -> None:
        """Change an issue as the person `who`: the one whose subject begins with the subject that the deed names."""
        assert deed.issue is not None
        one = deed.issue
        found = await self._tracker("GET", f"/issues.json?status_id=*&limit=100&subject=~{quote(one.subject)}", who)
        ids = [issue["id"] for issue in found.get("issues", ()) if str(issue["subject"]).startswith(one.subject)]
        if not ids:
            raise SandboxError(f"the workplace's tracker has no issue {one.subject!r}", where="colleagues", next=MEND)
        change: dict[str, Any] = {"notes": one.note} if one.note else {}
        if one.status:
            known = (await self._tracker("GET", "/issue_statuses.json", who))["issue_statuses"]
            change["status_id"] = _id(known, "name", one.status, "status")
        if one.assigned:
            users = (await self._tracker("GET", f"/users.json?name={quote(one.assigned)}", ""))["users"]
            change["assigned_to_id"] = _id(users, "login", one.assigned, "account")
        await self._tracker("PUT", f"/issues/{min(ids)}.json", who, {"issue": change})
        await self._check_change(min(ids), who, change)

    async def _check_change(self, number: int, who: str, change: dict[str, Any]) -> None:
        """Raise SandboxError if Redmine silently ignored a new status or assignee of an issue."""
        now = (await self._tracker("GET", f"/issues/{number}.json", who))["issue"]
        for key, what in (("status_id", "status"), ("assigned_to_id", "assigned_to")):
            have = now.get(what) or {}
            if key in change and have.get("id") != change[key]:
                name = have.get("name", "nobody")
                problem = f"the tracker does not let {who} change {what} of issue {number}: it is still {name}"
                raise SandboxError(problem, where="colleagues", next=MEND)

    async def _tracker(self, method: str, path: str, who: str, body: Any = None) -> dict[str, Any]:
        head = {"X-Redmine-API-Key": self.operator, **({"X-Redmine-Switch-User": who} if who else {})}
        data = b"" if body is None else json.dumps(body).encode()
        said = await http_request(
            self.box, PORTS["tracker"], method, path, head | {"Content-Type": "application/json"}, data
        )
        found = await parse_json(said, what="the tracker's answer") if said.strip() else {}
        return found if isinstance(found, dict) else {}

    async def _upload(self, service: str, path: str, data: bytes, kind: str) -> None:
        word = base64.b64encode(f"operator:{self.operator}".encode()).decode()
        head = {"Authorization": f"Basic {word}", "Content-Type": kind}
        await http_request(self.box, PORTS[service], "PUT", path, head, data)


def _id(rows: list[dict[str, Any]], key: str, wanted: str, what: str) -> int:
    found = next((row["id"] for row in rows if row[key] == wanted), None)
    if found is None:
        raise SandboxError(f"the workplace's tracker has no {what} {wanted!r}", where="colleagues", next=MEND)
    return int(found)
