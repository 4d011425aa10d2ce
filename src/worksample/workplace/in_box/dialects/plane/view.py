"""The rows of the tracker with Plane's ids, as one account sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..accounts import DialectAccount
from ..http_messages import DialectRefused, not_served
from ..json_tables import JsonTables, label_named, labels_of, set_labels
from ..tracker import Row, Tracker
from . import serializers

FIELDS = {"name": "subject", "start_date": "start_date", "target_date": "due_date"}
LACKING = ("parent", "estimate_point", "is_draft", "external_id", "external_source", "type", "module", "cycle")


class PlaneView:
    """The dialect of Plane for one account. Ids are hashes of the tracker's numbers, so a row is found by a search
    through all rows that the account may see.
    """

    def __init__(self, tracker: Tracker, kept: JsonTables, who: DialectAccount) -> None:
        self.tracker, self.kept, self.who = tracker, kept, who
        self.workspace = serializers.identity("workspace", 1)

    def project(self, name: str) -> Row:
        """Return a project by its id. Raises DialectRefused (404)."""
        return _find_row(self.tracker.projects(), "project", name)

    def issue(self, project: Mapping[str, Any], name: str) -> Row:
        """Return an issue by its id. Raises DialectRefused (404)."""
        return _find_row(self.tracker.issues(project["id"]), "issue", name)

    def version(self, project: Mapping[str, Any], name: str) -> Row:
        """Return the tracker's version that stands for a cycle, by the cycle's id. Raises DialectRefused (404)."""
        return _find_row(self.tracker.versions(project["identifier"]), "cycle", name)

    def category(self, project: Mapping[str, Any], name: str) -> Row:
        """Return the tracker's category that stands for a module, by the module's id. Raises DialectRefused (404)."""
        return _find_row(self.tracker.categories(project["identifier"]), "module", name)

    def row_by_id(self, rows: Sequence[dict[str, Any]], name: str, what: str) -> dict[str, Any]:
        """Return the row whose id in Plane is `name`. Raises DialectRefused (404) if no row has this id."""
        for row in rows:
            if row["id"] == name:
                return row
        raise DialectRefused(404, f"{what} not found")

    def issue_json(self, project: Row, row: Row) -> dict[str, Any]:
        """Return an issue in Plane's form."""
        project_id, kept = serializers.identity("project", project["id"]), self.kept.read(project["identifier"])
        numbers = {one["name"]: one["id"] for one in kept.get("labels", [])}
        names = [name for name in labels_of(kept, row["id"]) if name in numbers]
        labels = [serializers.identity(f"label:{project_id}", numbers[name]) for name in names]
        return serializers.issue(row, project_id, self.workspace, labels)

    def values(self, project: Row, given: Mapping[str, Any]) -> dict[str, object]:
        """Return the tracker's fields for the values of an issue that a client sent. Raises DialectRefused (501) if the
        tracker lacks a field for a value.
        """
        if asked := [name for name in LACKING if given.get(name)]:
            raise not_served(f"an issue's {asked[0]}")
        values: dict[str, object] = {FIELDS[key]: given[key] or "" for key in FIELDS if key in given}
        if "description_html" in given:
            values["description"] = serializers.as_text(str(given["description_html"] or ""))
        if given.get("state"):
            key = f"state:{serializers.identity('project', project['id'])}"
            values["status_id"] = _find_row(self.tracker.statuses(), key, str(given["state"]))["id"]
        if "priority" in given:
            wanted = {"none": "Normal"} | {name: row for row, name in reversed(serializers.PRIORITIES.items())}
            name = wanted.get(str(given["priority"] or "none"))
            rows = [row for row in self.tracker.priorities() if row["name"] == name]
            if not rows:
                raise DialectRefused(400, f"there is no priority {given['priority']!r}")
            values["priority_id"] = rows[0]["id"]
        if "assignees" in given:
            people = given["assignees"] or []
            if len(people) > 1:
                raise not_served("more than one assignee: the tracker has one")
            rows = self.tracker.people()
            values["assigned_to_id"] = _find_row(rows, "person", str(people[0]))["id"] if people else ""
        return values

    def apply_labels(self, project: Row, row: Row, given: Mapping[str, Any]) -> dict[str, Any]:
        """Set the requested labels of an issue and return it in Plane's form."""
        if "labels" in given:
            project_id = serializers.identity("project", project["id"])
            with self.kept.edit(project["identifier"]) as kept:
                by_id = {
                    serializers.identity(f"label:{project_id}", one["id"]): one["name"]
                    for one in kept.get("labels", [])
                }
                if strange := [one for one in given["labels"] or [] if one not in by_id]:
                    raise DialectRefused(400, f"there is no label {strange[0]}")
                set_labels(kept, row["id"], [by_id[one] for one in given["labels"] or []])
        return self.issue_json(project, row)

    def add_label(self, project: Row, given: Mapping[str, Any]) -> dict[str, Any]:
        """Add a label to a project and return it."""
        with self.kept.edit(project["identifier"]) as kept:
            colour = str(given.get("color") or "#6699cc")
            return label_named(kept, str(given.get("name") or ""), colour, str(given.get("description") or ""))

    def cycle_values(self, given: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, object]:
        """Return the tracker's fields for a cycle. The first day of the cycle becomes a line of the description,
        because the tracker has no field for it.
        """
        now = serializers.cycle({**_EMPTY, **before}, "", "") if before else {"start_date": None, "description": ""}
        values: dict[str, object] = {}
        if given.get("name"):
            values["name"] = str(given["name"])
        if "end_date" in given:
            values["due_date"] = str(given["end_date"] or "")[:10]
        if {"start_date", "description"} & given.keys():
            start = str(given.get("start_date", now["start_date"]) or "")[:10]
            about = str(given.get("description", now["description"]) or "")
            values["description"] = "\n".join(part for part in (f"From {start}" if start else "", about) if part)
        return values


_EMPTY = {"due_date": None, "description": ""}


def _find_row(rows: Sequence[Row], kind: str, name: str) -> Row:
    for row in rows:
        if serializers.identity(kind, row["id"]) == name:
            return row
    raise DialectRefused(404, f"{kind.partition(':')[0].capitalize()} not found")
