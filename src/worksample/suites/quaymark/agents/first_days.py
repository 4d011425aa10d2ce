# ruff: noqa: E501
"""First days of new people, as the page of that name wants them."""

import io
import re
import zipfile
from datetime import date, datetime, timedelta

from office import TRACKER, ask, event, fetch, named, put

IDS = {"Aiko": "aiko", "Tomás": "tomas"}


def holidays():
    body = zipfile.ZipFile(io.BytesIO(fetch("office/holidays-2026.ods"))).read("content.xml").decode()
    return {date(int(year), int(month), int(day)) for day, month, year in re.findall(r"(\d\d)-(\d\d)-(\d{4})", body)}


def working(first, steps, free):
    """The working day that is `steps` after (or before) a day."""
    day = first
    for _ in range(abs(steps)):
        day += timedelta(1 if steps > 0 else -1)
        while day.weekday() > 4 or day in free:
            day += timedelta(1 if steps > 0 else -1)
    return day


def write_issue(project, subject, text, person, due):
    fields = {
        "subject": subject,
        "description": text,
        "tracker_id": named("trackers", "")["Support"],
        "due_date": due.isoformat(),
    }
    ask(
        f"{TRACKER}/projects/{project}/issues.json",
        {"issue": {**fields, "assigned_to_id": named("people", project)[person]}},
    )


def prepare(name, first, mentor, desk, at="1030", free=None):
    free = holidays() if free is None else free
    write_issue(
        "platform", f"Account for {name}", f"{name} begins on {first}.", "Sven Larsson", working(first, -2, free)
    )
    write_issue("office", f"Desk and card for {name}", f"Desk {desk}.", "Sofia Marin", working(first, -1, free))
    write_issue(
        "dispatch", f"Training for {name}", f"{name} begins on {first}.", "Imani Clarke", working(first, 4, free)
    )
    begins = datetime.strptime(f"{first} {at}", "%Y-%m-%d %H%M")
    begins, ends = (f"{moment:%Y%m%dT%H%M00Z}" for moment in (begins, begins + timedelta(minutes=30)))
    event(f"first-{first}", f"First day of {name}", begins, ends, ("yusuf", "callum", IDS[mentor]))
    put(f"people/onboarding/{name}.md", f"start: {first}\nmentor: {mentor}\ndesk: {desk}\n", "text/markdown")
