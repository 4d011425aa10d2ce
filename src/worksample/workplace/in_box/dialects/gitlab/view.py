"""GitLab's projects and people, as one account sees them."""

from __future__ import annotations

import re
import shutil
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..accounts import DialectAccount
from ..bare_repository import BareRepository
from ..http_messages import DialectRefused
from ..json_tables import JsonTables
from ..tracker import Row, Tracker

NAMESPACE = "root"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True)
class GitLabProject:
    """A project of GitLab: a repository and a tracker project of the same name, or only one of the two. `row` is the
    project's row in the tracker.
    """

    name: str
    row: Row | None
    repository: BareRepository | None

    @property
    def id(self) -> int:
        """Id of the project. A project of a company has the same id in every workplace."""
        return zlib.crc32(self.name.encode()) & 0x7FFFFFFF

    @property
    def path(self) -> str:
        """Path of the project, including the namespace."""
        return f"{NAMESPACE}/{self.name}"

    @property
    def code(self) -> BareRepository:
        """The git repository of the project. Raises DialectRefused (404) if the project has no repository."""
        if self.repository is None:
            raise DialectRefused(404, "404 Repository Not Found")
        return self.repository


class GitLabView:
    """The dialect of GitLab for one account. `folder` contains the repositories. `origin` is the address under which
    the client reached the dialect.
    """

    def __init__(self, who: DialectAccount, tracker: Tracker, kept: JsonTables, folder: Path, origin: str) -> None:
        self.who, self.tracker, self.kept, self._folder, self.origin = who, tracker, kept, folder, origin

    @property
    def me(self) -> Row:
        """The tracker's row about the account."""
        return self.tracker.person(self.who.name)

    @property
    def author(self) -> tuple[str, str]:
        """Name and mail address for commits of the account."""
        return self.me["name"], self.me["mail"]

    def projects(self) -> list[GitLabProject]:
        """Return the projects that the account can see in the tracker, and all repositories."""
        rows = {row["identifier"]: row for row in self.tracker.projects()}
        names = {path.name.removesuffix(".git") for path in self._folder.glob("*.git")}
        return [GitLabProject(name, rows.get(name), self._repository(name)) for name in sorted({*rows, *names})]

    def project(self, ref: str) -> GitLabProject:
        """Return a project by its number, or by its path with the namespace. Raises DialectRefused (404) if it does not
        exist.
        """
        if ref.isdigit():
            for one in self.projects():
                if str(one.id) == ref:
                    return one
            raise DialectRefused(404, "404 Project Not Found")
        space, _, name = ref.lower().rpartition("/")
        if space != NAMESPACE or _NAME.fullmatch(name) is None:
            raise DialectRefused(404, "404 Project Not Found")
        row = next((one for one in self.tracker.projects() if one["identifier"] == name), None)
        repository = self._repository(name)
        if row is None and repository is None:
            raise DialectRefused(404, "404 Project Not Found")
        return GitLabProject(name, row, repository)

    def tracked_project(self, ref: str) -> GitLabProject:
        """Return a project that exists in the tracker. Raises DialectRefused (404) if only a repository exists."""
        found = self.project(ref)
        if found.row is None:
            raise DialectRefused(404, f"404 Not Found - the tracker has no project {found.name}")
        return found

    def _repository(self, name: str) -> BareRepository | None:
        place = self._folder / f"{name}.git"
        return BareRepository(place) if place.is_dir() else None

    @property
    def is_admin(self) -> bool:
        """Return whether the account administers the tracker."""
        try:
            self.tracker.ask("GET", "/users.json?limit=1")
        except DialectRefused:
            return False
        return True

    def add_repository(self, name: str) -> BareRepository:
        """Create an empty repository of the project `name`."""
        place = self._folder / f"{name}.git"
        made = BareRepository(place)
        place.mkdir(parents=True)
        made.run("init", "-q", "--bare", "-b", "main")
        for key, value in (("http.receivepack", "true"), ("gc.auto", "0"), ("receive.autogc", "false")):
            made.run("config", key, value)
        return made

    def remove_repository(self, name: str) -> None:
        """Remove the repository and the tables of the project `name`."""
        shutil.rmtree(self._folder / f"{name}.git", ignore_errors=True)
        self.kept.remove(name)

    def user(self, row: Row) -> dict[str, Any]:
        """Return a person in GitLab's form."""
        return {
            "id": row["id"], "username": row["login"], "name": row["name"], "state": "active", "locked": False,
            "avatar_url": None, "web_url": f"{self.origin}/{row['login']}",
        }  # fmt: skip

    def user_of(self, some: Row | None) -> dict[str, Any] | None:
        """Return a person in GitLab's form. `some` is the tracker's reference to the person by number, or None."""
        if not some:
            return None
        try:
            return self.user(self.tracker.person(some["id"]))
        except DialectRefused:
            # Anonymous, or an account that is locked.
            return self.user({"id": some["id"], "login": f"user-{some['id']}", "name": some.get("name", "")})

    def address(self, project: GitLabProject) -> str:
        """Return the web address of a project."""
        return f"{self.origin}/{project.path}"
