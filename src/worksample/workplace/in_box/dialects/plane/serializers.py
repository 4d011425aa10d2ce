"""Serializers of the tracker's rows to Plane's JSON objects."""

from __future__ import annotations

import contextlib
import html
import json
import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..tracker import Row

_SPACE = uuid.UUID("0f6c2a5e-6a0c-5d36-8f0e-6a3f2b9e7c41")
STATES: Mapping[str, tuple[str, str, str]] = {
    "New": ("Todo", "unstarted", "#60646C"), "In Progress": ("In Progress", "started", "#F59E0B"),
    "Feedback": ("Feedback", "started", "#F59E0B"), "Resolved": ("Resolved", "started", "#F59E0B"),
    "Closed": ("Done", "completed", "#46A758"), "Rejected": ("Cancelled", "cancelled", "#9AA4BC"),
}  # fmt: skip
"""Issue status in Redmine -> state in Plane, with its group and colour."""
PRIORITIES = {"Low": "low", "Normal": "medium", "High": "high", "Urgent": "urgent", "Immediate": "urgent"}
BEGINS = re.compile(r"^From (\d{4}-\d{2}-\d{2})$", re.MULTILINE)
"""Pattern of the line in a version's description that contains its first day. The tracker has no field for the first
day.
"""


_given_ids: dict[str, str] = {}
"""KIND:NUMBER of a row -> the id that the company gives to it. A process serves one company."""


def read_given_ids(place: Path) -> None:
    """Read the ids that the company gives to rows. The file is missing if it gives none."""
    _given_ids.clear()
    with contextlib.suppress(FileNotFoundError):
        _given_ids.update(json.loads(place.read_bytes()))


def identity(kind: str, number: object) -> str:
    """Return the id in Plane of a row of the tracker. A row of a company has the same id in every workplace."""
    return _given_ids.get(f"{kind}:{number}") or str(uuid.uuid5(_SPACE, f"{kind}:{number}"))


def as_html(text: str) -> str:
    """Return a plain text as HTML paragraphs."""
    parts = [part for part in re.split(r"\n\s*\n", text.strip()) if part]
    return "".join(f"<p>{html.escape(part, quote=False)}</p>" for part in parts)


def as_text(markup: str) -> str:
    """Return the HTML of Plane's editor as plain text."""
    broken = re.sub(r"(?i)<br\s*/?>|</li>|</tr>", "\n", re.sub(r"(?i)</(p|h[1-6]|div|ul|ol|pre)>", "\n\n", markup))
    return html.unescape(re.sub(r"<[^>]{0,4000}>", "", broken)).strip()


def project(row: Row, workspace: str) -> dict[str, Any]:
    """Return a project in Plane's form."""
    return {
        "id": identity("project", row["id"]), "name": row["name"], "identifier": row["identifier"].upper()[:12],
        "description": row.get("description") or "", "network": 0, "workspace": workspace, "is_member": True,
        "created_at": row["created_on"], "updated_at": row["updated_on"], "module_view": True, "cycle_view": True,
        "page_view": False, "archived_at": None, "default_state": None,
    }  # fmt: skip


def state(row: Row, project_id: str, workspace: str) -> dict[str, Any]:
    """Return an issue status of the tracker as a state in Plane's form."""
    name, group, colour = STATES.get(
        row["name"], (row["name"], "completed" if row["is_closed"] else "started", "#60646C")
    )
    return {
        "id": identity(f"state:{project_id}", row["id"]), "name": name, "group": group, "color": colour,
        "description": "", "slug": name.lower().replace(" ", "-"), "sequence": float(row["id"]) * 15000,
        "is_triage": False, "default": row["name"] == "New", "project": project_id, "workspace": workspace,
    }  # fmt: skip


def person(row: Row) -> dict[str, Any]:
    """Return a person in Plane's form."""
    first, _, last = row["name"].rpartition(" ")
    return {
        "id": identity("person", row["id"]), "display_name": row["login"], "first_name": first or last,
        "last_name": last if first else "", "email": row["mail"], "avatar": "", "avatar_url": None,
    }  # fmt: skip


def issue(row: Row, project_id: str, workspace: str, labels: list[str]) -> dict[str, Any]:
    """Return an issue in Plane's form."""
    status, closed = row["status"], row["status"]["is_closed"]
    done = closed and STATES.get(status["name"], ("", "completed", ""))[1] == "completed"
    return {
        "id": identity("issue", row["id"]), "name": row["subject"],
        "description_html": as_html(row["description"] or ""),
        "description_stripped": row["description"] or "", "sequence_id": row["id"], "sort_order": float(row["id"]),
        "priority": PRIORITIES.get(row["priority"]["name"], "none"),
        "state": identity(f"state:{project_id}", status["id"]),
        "project": project_id, "workspace": workspace, "start_date": row.get("start_date"),
        "target_date": row.get("due_date"), "created_at": row["created_on"], "updated_at": row["updated_on"],
        "completed_at": row.get("closed_on") if done else None, "archived_at": None, "is_draft": False,
        "assignees": [identity("person", row["assigned_to"]["id"])] if row.get("assigned_to") else [],
        "created_by": identity("person", row["author"]["id"]),
        "parent": identity("issue", row["parent"]["id"]) if row.get("parent") else None,
        "labels": labels, "estimate_point": None, "external_id": None, "external_source": None,
    }  # fmt: skip


def cycle(row: Row, project_id: str, workspace: str) -> dict[str, Any]:
    """Return a version of the tracker as a cycle in Plane's form."""
    begins = BEGINS.search(row.get("description") or "")
    return {
        "id": identity("cycle", row["id"]), "name": row["name"],
        "description": BEGINS.sub("", row.get("description") or "").strip(),
        "start_date": begins[1] if begins else None,
        "end_date": row.get("due_date"), "project": project_id, "workspace": workspace, "created_at": row["created_on"],
        "updated_at": row["updated_on"], "sort_order": float(row["id"]), "archived_at": None,
        "status": "completed" if row["status"] == "closed" else "current",
    }  # fmt: skip


def module(row: Row, project_id: str, workspace: str) -> dict[str, Any]:
    """Return a category of the tracker as a module in Plane's form."""
    return {
        "id": identity("module", row["id"]), "name": row["name"], "description": "", "status": "planned",
        "lead": identity("person", row["assigned_to"]["id"]) if row.get("assigned_to") else None, "members": [],
        "project": project_id, "workspace": workspace, "archived_at": None,
    }  # fmt: skip


def label(row: Mapping[str, Any], project_id: str, workspace: str) -> dict[str, Any]:
    """Return a label in Plane's form."""
    return {
        "id": identity(f"label:{project_id}", row["id"]), "name": row["name"], "description": row["description"],
        "color": row["color"], "parent": None, "project": project_id, "workspace": workspace,
    }  # fmt: skip


def comment(row: Row, issue_id: str, project_id: str, workspace: str) -> dict[str, Any]:
    """Return a note in an issue's journal as a comment in Plane's form."""
    who = identity("person", row["user"]["id"]) if row.get("user") else None
    return {
        "id": identity("comment", row["id"]), "comment_html": as_html(row["notes"]), "comment_stripped": row["notes"],
        "actor": who, "created_by": who, "created_at": row["created_on"], "updated_at": row["created_on"],
        "issue": issue_id, "project": project_id, "workspace": workspace, "access": "INTERNAL",
    }  # fmt: skip
