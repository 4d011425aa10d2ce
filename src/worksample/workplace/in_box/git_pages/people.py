"""The people of a company for pages that must not ask the tracker: the file that the seed wrote."""

from __future__ import annotations

import json
from pathlib import Path

from ..dialects.accounts import DialectAccount
from ..dialects.tracker import Row, Tracker


class CompanyPeople(Tracker):
    """The tracker's interface with people and without projects. A workplace without a tracker has no more, and a page
    that shows names needs no more.
    """

    def __init__(self, who: DialectAccount, people: list[Row]) -> None:
        super().__init__(who, who)
        self._rows = people

    def projects(self) -> list[Row]:
        """Return no projects: only repositories have pages."""
        return []

    def people(self) -> list[Row]:
        """Return the people of the company."""
        return self._rows

    def person(self, ref: object) -> Row:
        """Return a person by account. An account that is newer than the company is shown by its account name."""
        for one in self._rows:
            if ref == one["login"]:
                return one
        return {"id": 0, "login": str(ref), "name": str(ref), "mail": f"{ref}@workplace.invalid", "since": ""}


def read_people(state: Path) -> list[Row]:
    """Return the people of the company, sorted by name. Return an empty list for a state of an older version."""
    try:
        found = json.loads((state / "dialects" / "people.json").read_bytes())
    except FileNotFoundError:
        return []
    return sorted(({"since": "", **one} for one in found), key=lambda one: str(one["name"]))
