"""The plan for the program that makes a seed: the company as plain values, with all passwords, mail addresses and
calendar events.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from .company import Calendar, Comment, Company, SeedEvent, SeedProject

STATE = "/task/state/workplace"
"""Path in the box of the folder with the services' state. The path is the same in every workplace, so that paths stored
in databases remain valid.
"""
MAIL = "workplace.invalid"


def choose_passwords(company: Company) -> dict[str, str]:
    """Return the password of each person: the password that the company sets, or a random password."""
    return {person.id: person.password or secrets.token_urlsafe(24) for person in company.person}


def build_plan(company: Company, words: dict[str, str]) -> dict[str, Any]:
    """Return the plan for `in_box/seed.py`. `words` contains the passwords by person."""
    everybody = sorted(company.people)
    return {
        "name": company.name,
        "about": company.about,
        "today": _text(company.today),
        "people": [{**one.plain(), "mail": f"{one.id}@{MAIL}", "password": words[one.id]} for one in company.person],
        "channels": [
            {
                "id": name,
                "topic": channel.topic,
                "closed": channel.members is not None and not channel.open,
                "members": everybody if channel.members is None else sorted(channel.members),
                "owners": sorted(channel.owners),
                "moderators": sorted(channel.moderators),
                "leaders": sorted(channel.leaders),
                "messages": [
                    {"id": f"{name}-{n:06}", "when": int(one.at.timestamp()), "by": one.by, "text": one.text}
                    for n, one in enumerate(sorted(channel.message, key=lambda one: one.at), 1)
                ],
            }
            for name, channel in sorted(company.channels.items())
        ],
        "projects": [_project(project, everybody, company) for project in company.projects],
        "repositories": [
            {
                "id": name,
                "about": repository.about,
                "default": repository.default,
                "commits": [{**commit.plain(), "at": commit.at.isoformat()} for commit in repository.commit],
            }
            for name, repository in sorted(company.repositories.items())
        ],
        "calendars": [
            {
                "owner": person.id,
                "name": f"Calendar of {person.name}",
                "events": _events(person.id, company.calendars.get(person.id, Calendar()), company.today),
            }
            for person in company.person
        ],
    }


def _text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def _gitlab_time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _notes(comments: Sequence[Comment]) -> list[dict[str, str]]:
    return [{"at": _gitlab_time(one.at), "by": one.by, "text": one.text} for one in comments]


def _project(project: SeedProject, everybody: list[str], company: Company) -> dict[str, Any]:
    issues = [
        {
            **one.plain(),
            "at": _text(one.at),
            "comments": [{"at": _text(said.at), "by": said.by, "text": said.text} for said in one.comment],
        }
        for one in project.issue
    ]
    repository = f"{STATE}/git/{project.id}.git" if project.id in company.repositories else None
    return {
        "id": project.id,
        "title": project.title,
        "about": project.about,
        "members": sorted(project.members) or everybody,
        "sprints": [sprint.plain() for sprint in project.sprint],
        "issues": issues,
        "roles": project.roles,
        "labels": [one.plain() for one in project.label],
        "merge_requests": [
            {**one.plain(), "at": _gitlab_time(one.at), "comments": _notes(one.comment)}
            for one in project.merge_request
        ],
        "plane": project.plane,
        "pages": [page.plain() for page in project.pages],
        "repository": repository,
    }


def _events(owner: str, calendar: Calendar, today: datetime) -> list[dict[str, str]]:
    events = []
    for number, one in enumerate(calendar.event):
        uid = hashlib.sha256(f"{owner}\0{number}\0{one.title}\0{one.begins.isoformat()}".encode()).hexdigest()[:24]
        events.append({"uid": uid, "ics": event_ics(uid, owner, one, today)})
    return events


def event_ics(uid: str, owner: str, event: SeedEvent, today: datetime) -> str:
    """Return a calendar event in the format of RFC 5545. `today` is the time at which the event was written."""
    fields = [
        ("UID", uid),
        ("DTSTAMP", _stamp(today)),
        ("DTSTART", _stamp(event.begins)),
        ("DTEND", _stamp(event.ends)),
        ("SUMMARY", _escape(event.title)),
        *([("LOCATION", _escape(event.place))] if event.place else []),
        *([("DESCRIPTION", _escape(event.text))] if event.text else []),
        *([("ORGANIZER", f"mailto:{owner}@{MAIL}")] if event.with_ else []),
        *(("ATTENDEE", f"mailto:{who}@{MAIL}") for who in event.with_),
    ]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//worksample//workplace//EN", "BEGIN:VEVENT"]
    lines += [f"{name}:{value}" for name, value in fields]
    lines += ["END:VEVENT", "END:VCALENDAR", ""]
    return "\r\n".join(_fold(line) for line in lines)


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _escape(text: str) -> str:
    for plain, marked in (("\\", "\\\\"), (";", "\\;"), (",", "\\,"), ("\r\n", "\\n"), ("\n", "\\n")):
        text = text.replace(plain, marked)
    return text


def _fold(line: str) -> str:
    """Break a line into parts of at most 75 bytes. A character is never split."""
    pieces, piece = [], ""
    for char in line:
        if len((piece + char).encode()) > 74:
            pieces.append(piece)
            piece = ""
        piece += char
    return "\r\n ".join([*pieces, piece])
