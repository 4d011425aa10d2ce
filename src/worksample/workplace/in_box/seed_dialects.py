"""Data of a company that only the dialects have: GitLab's numbers and labels of issues, merge requests and checks, and
Plane's ids. A service has none of these, so they are tables of the dialects' own.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Plan = Mapping[str, Any]
Ids = Mapping[str, Any]
"""The tracker's numbers: kind -> project or account -> number, numbers by name, or numbers in the plan's order."""


def write_tables(state: Path, plan: Plan, ids: Ids) -> None:
    """Write the tables of every dialect. `ids` is empty if the workplace has no tracker."""
    folder = state / "dialects"
    for project in plan["projects"]:
        if table := _project_table(state, project, ids):
            _write(folder / "projects" / f"{project['id']}.json", table)
    _write(folder / "plane_ids.json", _plane_ids(plan, ids))


def _write(place: Path, table: Mapping[str, Any]) -> None:
    if table:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(table, ensure_ascii=False), encoding="utf-8")


def _project_table(state: Path, project: Mapping[str, Any], ids: Ids) -> dict[str, Any]:
    """Return the table of a project in the form of `dialects/json_tables.py`; empty if the project has nothing that
    the tracker lacks.
    """
    issues = project["issues"]
    table: dict[str, Any] = {}
    numbers = list(ids.get("issue", {}).get(project["id"], []))
    named = {str(number): list(one["labels"]) for number, one in zip(numbers, issues, strict=False) if one["labels"]}
    labels = {one["name"]: (one["colour"], one["about"]) for one in project["labels"]}
    for name in (name for names in named.values() for name in names):
        labels.setdefault(name, ("#6699cc", ""))
    if labels:
        rows = enumerate(labels.items(), 1)
        table["labels"] = [{"id": n, "name": name, "color": c, "description": text} for n, (name, (c, text)) in rows]
    if named:
        table["issues"] = named
    if numbers and any(one["number"] for one in issues):
        given = _numbers(issues)
        highest = max((number for rows in ids["issue"].values() for number in rows), default=0)
        table |= {"numbers": dict(zip(map(str, numbers), given, strict=True)), "base": [max(given), highest]}
    if project["merge_requests"] and (state / "git" / f"{project['id']}.git").is_dir():
        table |= _merge_requests(state, project)
    return table


def _numbers(rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return a number for each row: its own, or the next free one after the row before."""
    taken = {row["number"] for row in rows if row["number"]}
    found, last = [], 0
    for row in rows:
        number = row["number"] or last + 1
        while not row["number"] and number in taken:
            number += 1
        taken.add(number)
        found.append(number)
        last = number
    return found


def _merge_requests(state: Path, project: Mapping[str, Any]) -> dict[str, Any]:
    code = state / "git" / f"{project['id']}.git"
    rows: list[dict[str, Any]] = []
    statuses: list[dict[str, Any]] = []
    for number, one in zip(_numbers(project["merge_requests"]), project["merge_requests"], strict=True):
        done = subprocess.run(
            ["git", "--git-dir", str(code), "rev-parse", f"refs/heads/{one['source']}"], capture_output=True, check=True
        )
        sha = done.stdout.decode().strip()
        notes = [{"id": number * 1000 + n, "body": said["text"], "by": said["by"], "at": said["at"]}
                 for n, said in enumerate(one["comments"], 1)]  # fmt: skip
        last = max([one["at"], *(said["at"] for said in one["comments"])])
        row = {
            "iid": number, "title": one["title"], "description": one["text"], "labels": list(one["labels"]),
            "assignees": [one["assigned"]] if one["assigned"] else [], "reviewers": [], "source": one["source"],
            "target": one["target"], "state": one["state"], "by": one["by"], "sha": sha, "created": one["at"],
            "updated": last, "notes": notes,
        }  # fmt: skip
        if one["state"] == "merged":
            row |= {"merged": last, "merged_by": one["by"], "commit": sha}
        elif one["state"] == "closed":
            row["closed"] = last
        rows.append(row)
        for name, value in one["checks"].items():
            statuses.append({
                "id": len(statuses) + 1, "sha": sha, "name": name, "created": last, "state": value, "description": "",
                "target_url": "", "ref": one["source"], "by": one["by"], "updated": last,
            })  # fmt: skip
    return {"merge_requests": rows, **({"statuses": statuses} if statuses else {})}


def _plane_ids(plan: Plan, ids: Ids) -> dict[str, str]:
    """Return KIND:NUMBER -> the id that the company gives to this row in Plane."""
    found: dict[str, str] = {}
    for project in plan["projects"] if ids else ():
        own = project["id"]
        found[f"project:{ids['project'][own]}"] = project["plane"]
        for number, one in zip(ids["issue"][own], project["issues"], strict=True):
            found[f"issue:{number}"] = one["plane"]
        for one in project["sprints"]:
            found[f"cycle:{ids['version'][own][one['name']]}"] = one["plane"]
    for one in plan["people"] if ids else ():
        found[f"person:{ids['person'][one['id']]}"] = one["plane"]
    return {key: given for key, given in found.items() if given}
