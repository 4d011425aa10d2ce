"""The tracker as one person sees it, for dialects that have issues."""

from __future__ import annotations

import functools
import urllib.parse
from collections.abc import Mapping
from typing import Any

from .accounts import DialectAccount
from .backend import TRACKER, Backend
from .http_messages import DialectRefused

PAGE = 100
"""Maximum rows that Redmine returns in one answer."""
MOST = 20_000
"""Maximum rows that are read from Redmine for one request of a client."""
Row = dict[str, Any]


class Tracker:
    """The tracker as one account sees it. The account `operator` is used only to read people's names, which everybody
    in the company may know.
    """

    def __init__(self, who: DialectAccount, operator: DialectAccount, backend: Backend = TRACKER) -> None:
        self._who, self._operator, self._backend = who, operator, backend

    def ask(self, method: str, path: str, body: object = None, *, who: DialectAccount | None = None) -> Row:
        """Send a request to Redmine and return the JSON table of the answer, or an empty table if the answer has none.
        Raises DialectRefused with Redmine's reason.
        """
        status, found = self._backend.json(method, path, (who or self._who).authorization, body)
        if status < 300:
            return dict(_lines(found)) if isinstance(found, dict) else {}
        why = found.get("errors", []) if isinstance(found, dict) else []
        reason = {401: "401 Unauthorized", 403: "403 Forbidden", 404: "404 Not Found"}.get(status, "")
        said = reason or "; ".join(str(one) for one in why) or f"the tracker answers {status}"
        raise DialectRefused(status if 400 <= status < 500 else 502, said)

    def rows(
        self, path: str, key: str, query: Mapping[str, object] | None = None, who: DialectAccount | None = None
    ) -> list[Row]:
        """Return all rows of a list, read from all its pages."""
        found: list[Row] = []
        while len(found) < MOST:
            words = urllib.parse.urlencode({**(query or {}), "limit": PAGE, "offset": len(found)})
            said = self.ask("GET", f"{path}?{words}", who=who)
            page = said.get(key, [])
            found += page
            if not page or len(found) >= said.get("total_count", len(found)):
                break
        return found

    def projects(self) -> list[Row]:
        """Return all projects."""
        return self.rows("/projects.json", "projects")

    def project(self, name: str) -> Row:
        """Return a project by name."""
        return dict(self.ask("GET", f"/projects/{quote(name)}.json")["project"])

    def issues(self, project: object = None, **query: object) -> list[Row]:
        """Return the open and closed issues of a project, or of all projects, newest first."""
        within = {} if project is None else {"project_id": project, "subproject_id": "!*"}
        return self.rows("/issues.json", "issues", {"status_id": "*", "sort": "id:desc", **within, **query})

    def issue(self, number: object, include: str = "") -> Row:
        """Return an issue by number."""
        words = f"?include={include}" if include else ""
        return dict(self.ask("GET", f"/issues/{quote(str(number))}.json{words}")["issue"])

    def add_issue(self, values: Mapping[str, object]) -> Row:
        # By default an issue begins on the machine's date, so Redmine would refuse due dates of the company's past.
        """Create an issue and return it."""
        return dict(self.ask("POST", "/issues.json", {"issue": {"start_date": "", **values}})["issue"])

    def change_issue(self, number: object, values: Mapping[str, object]) -> Row:
        """Change an issue and return it. Raises DialectRefused if Redmine silently ignored a change."""
        self.ask("PUT", f"/issues/{quote(str(number))}.json", {"issue": values})
        found = self.issue(number)
        for key, kept in (
            ("status_id", "status"),
            ("assigned_to_id", "assigned_to"),
            ("fixed_version_id", "fixed_version"),
        ):
            if key in values and (found.get(kept) or {}).get("id") != (values[key] or None):
                now = (found.get(kept) or {}).get("name", "nobody" if kept == "assigned_to" else "none")
                raise DialectRefused(
                    403, f"403 Forbidden - the tracker does not let you change {kept}: it is still {now}"
                )
        return found

    def statuses(self) -> list[Row]:
        """Return all statuses of issues."""
        return list(self.ask("GET", "/issue_statuses.json")["issue_statuses"])

    def priorities(self) -> list[Row]:
        """Return all priorities of issues."""
        return list(self.ask("GET", "/enumerations/issue_priorities.json")["issue_priorities"])

    def versions(self, project: object) -> list[Row]:
        """Return a project's versions."""
        return list(self.ask("GET", f"/projects/{quote(str(project))}/versions.json")["versions"])

    def version(self, number: object) -> Row:
        """Return a version by number."""
        return dict(self.ask("GET", f"/versions/{quote(str(number))}.json")["version"])

    def add_version(self, project: object, values: Mapping[str, object]) -> Row:
        """Create a version and return it."""
        path = f"/projects/{quote(str(project))}/versions.json"
        return dict(self.ask("POST", path, {"version": values})["version"])

    def change_version(self, number: object, values: Mapping[str, object]) -> Row:
        """Change a version and return it."""
        self.ask("PUT", f"/versions/{quote(str(number))}.json", {"version": values})
        return self.version(number)

    def categories(self, project: object) -> list[Row]:
        """Return a project's categories."""
        return list(self.ask("GET", f"/projects/{quote(str(project))}/issue_categories.json")["issue_categories"])

    def add_category(self, project: object, name: str) -> Row:
        """Create a category and return it."""
        path = f"/projects/{quote(str(project))}/issue_categories.json"
        return dict(self.ask("POST", path, {"issue_category": {"name": name}})["issue_category"])

    def members(self, project: object) -> list[Row]:
        """Return the people who are members of a project. The field `roles` contains the roles of a person."""
        found = self.rows(f"/projects/{quote(str(project))}/memberships.json", "memberships")
        known = {one["id"]: one for one in self.people()}
        return [
            {**known[one["user"]["id"]], "roles": [role["name"] for role in one["roles"]]}
            for one in found
            if one.get("user", {}).get("id") in known
        ]

    @functools.cached_property
    def _people(self) -> list[Row]:
        found = self.rows("/users.json", "users", {"status": 1}, self._operator)
        return [
            {
                "id": one["id"], "login": one["login"], "mail": one.get("mail", ""), "since": one["created_on"],
                "name": " ".join(word for word in (one["firstname"], one["lastname"]) if word != "-"),
            }
            for one in found
        ]  # fmt: skip

    def people(self) -> list[Row]:
        """Return all people with an account, with the fields id, login, name, mail and since."""
        return self._people

    def person(self, ref: object) -> Row:
        """Return a person by number or account. Raises DialectRefused (404) if nobody has it."""
        for one in self.people():
            if str(ref) in (str(one["id"]), one["login"]):
                return one
        raise DialectRefused(404, "404 User Not Found")


def _lines(value: Any) -> Any:
    """Return a value whose texts have plain line ends (LF). Redmine's forms turn each line end into two characters (CR
    LF).
    """
    if isinstance(value, dict):
        return {key: _lines(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_lines(inner) for inner in value]
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def quote(text: str) -> str:
    """Return a text quoted for a URL path."""
    return urllib.parse.quote(text, safe="")
