"""Requirements of an original of TheAgentCompany, compared with the contents that the user gives.

`original_world.toml` lists it by task. An evaluator counts missing contents as the agent's failure, or as done work, so
a task whose world cannot be posed must not be run.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OBSTACLES = {
    "tac-impossible": "a machine or product that no workplace offers (notes.md says which)",
    "tac-contents": "contents of the original's images (notes.md lists them), as --projects and --documents give",
    "tac-service": "a product whose services no workplace offers",
}
"""Obstacle -> what the task needs and does not have here."""
TABLE = Path(__file__).with_name("original_world.toml")
_NEED = re.compile(r"(gitlab|plane) ([^:]+)(?:: (issue|label|branch|merge request|milestone|cycle|file) ?(.*))?")


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def impossible(task: str) -> str:
    """Return why no given contents make the task possible; "" if some do."""
    return str(_table()["cannot"].get(task, ""))


def needs_of(task: str) -> tuple[str, ...] | None:
    """Return what the table lists for a task; None if it does not list the task."""
    found = _table()["needs"].get(task)
    return None if found is None else tuple(found)


@dataclass(frozen=True, slots=True)
class World:
    """The contents that the user gives: projects in a company's format, and documents."""

    projects: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Name -> table of a project."""
    repositories: dict[str, tuple[dict[str, Any], Path]] = field(default_factory=dict)
    """Name -> table of a repository, and the folder with its commits' files."""
    documents: Path | None = None

    @classmethod
    def read(cls, more: Path | None, documents: Path | None) -> World:
        """Read the folders that `import` was given. A file that is no TOML is left to the company's reader."""
        projects = {path.stem: _toml(path) for path in _files(more, "projects")}
        code = {path.stem: (_toml(path), path.with_suffix("")) for path in _files(more, "repositories")}
        return cls(projects, code, documents)

    def lacks(self, need: str) -> bool:
        """Return whether a need of the table is not met."""
        if need.startswith("document "):
            return self.documents is None or not (self.documents / need.removeprefix("document ")).exists()
        match = _NEED.fullmatch(need)
        assert match is not None, need
        product, name, kind, wanted = match.groups()
        known = {*self.projects, *self.repositories}
        if product == "plane":
            known = {key for key, table in self.projects.items() if name in ("*", str(table.get("title", "")))}
        elif name != "*":
            known &= {name}
        return not any(kind is None or self._has(one, kind, wanted) for one in known)

    def _has(self, name: str, kind: str, wanted: str) -> bool:
        table = self.projects.get(name, {})
        code, folder = self.repositories.get(name, ({}, Path()))
        issues, commits = table.get("issue", []), code.get("commit", [])
        if kind == "issue":
            return (
                bool(issues)
                if wanted == "*"
                else any(wanted in (str(one.get("number")), one["subject"]) for one in issues)
            )
        if kind == "label":
            return any(wanted in one.get("labels", []) for one in issues)
        if kind in ("milestone", "cycle"):
            rows = table.get("sprint", [])
            return bool(rows) if wanted == "*" else any(one.get("name") == wanted for one in rows)
        if kind == "merge request":
            return bool(table.get("merge_request"))
        if kind == "branch":
            return any(one.get("branch") == wanted for one in commits)
        return any((folder / one.get("files", "") / wanted).exists() for one in commits)


def _files(more: Path | None, folder: str) -> list[Path]:
    return sorted((more / folder).glob("*.toml")) if more is not None else []


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
