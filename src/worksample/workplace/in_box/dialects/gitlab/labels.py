"""GitLab's API functions for the labels of a project. The dialect stores the labels itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..http_messages import DialectRefused
from ..json_tables import label_named
from .routing import Given, ListResponse, require_values, route
from .view import GitLabView

Named = Mapping[str, str]


@route("GET", "projects/:id/labels")
def labels(asker: GitLabView, named: Named, given: Given) -> ListResponse:
    project, searched = asker.project(named["id"]), str(given.get("search", "")).lower()
    rows = asker.kept.read(project.name).get("labels", [])
    return ListResponse([_label(one) for one in rows if searched in one["name"].lower()])


@route("POST", "projects/:id/labels")
def add_label(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    require_values(given, "name", "color")
    project = asker.tracked_project(named["id"])
    with asker.kept.edit(project.name) as kept:
        if any(one["name"] == given["name"] for one in kept.get("labels", [])):
            raise DialectRefused(409, "Label already exists")
        made = label_named(kept, str(given["name"]), str(given["color"]), str(given.get("description") or ""))
    return _label(made)


@route("PUT", "projects/:id/labels/:label")
def change_label(asker: GitLabView, named: Named, given: Given) -> dict[str, Any]:
    project = asker.tracked_project(named["id"])
    with asker.kept.edit(project.name) as kept:
        one = _label_in(kept, named["label"])
        old, new = one["name"], str(given.get("new_name") or one["name"])
        one |= {"name": new, **{key: str(given[key]) for key in ("color", "description") if key in given}}
        for number, names in kept.get("issues", {}).items():
            kept["issues"][number] = [new if name == old else name for name in names]
    return _label(one)


@route("DELETE", "projects/:id/labels/:label")
def remove_label(asker: GitLabView, named: Named, given: Given) -> None:
    project = asker.tracked_project(named["id"])
    with asker.kept.edit(project.name) as kept:
        one = _label_in(kept, named["label"])
        kept["labels"].remove(one)
        for number, names in kept.get("issues", {}).items():
            kept["issues"][number] = [name for name in names if name != one["name"]]


def _label_in(kept: dict[str, Any], ref: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = kept.get("labels", [])
    for one in found:
        if ref in (str(one["id"]), one["name"]):
            return one
    raise DialectRefused(404, "404 Label Not Found")


def _label(one: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, "text_color": "#FFFFFF", "is_project_label": True, "subscribed": False, "priority": None}
