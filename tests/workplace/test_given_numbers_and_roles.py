"""What only dialects know of a company: given numbers, labels, branches, merge requests, roles, ids, administration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from workplace.firm_with_code import COMPANY, company, during
from worksample.errors import ManifestError
from worksample.workplace.company_reader import read_company

TABLE = """
title = "Numbered"
plane = "2bc631a1-8515-4bca-858e-129337c83c8d"
roles = { li_ming = "Manager" }
[[sprint]]
name = "Sprint 1"
begins = 2026-02-01
ends = 2026-02-28
plane = "8eba9853-4178-42a6-b113-e66002e8e0ab"
[[label]]
name = "bug"
colour = "#ff0000"
[[issue]]
subject = "A bug"
number = 200
labels = ["bug"]
by = "li_ming"
at = 2026-02-02T10:00:00
[[issue]]
subject = "Follows"
by = "li_ming"
at = 2026-02-03T10:00:00
plane = "5d1c8695-acfd-44c2-8d2d-e41c67cdd8c0"
[[issue]]
subject = "Early"
number = 140
labels = ["bug", "priority"]
by = "li_ming"
at = 2026-02-04T10:00:00
[[merge_request]]
title = "Use TLS"
source = "feature/ssl"
by = "david_wong"
at = 2026-02-05T10:00:00
number = 17
labels = ["bug"]
checks = { unit = "failed", lint = "success" }
[[merge_request.comment]]
at = 2026-02-06T10:00:00
by = "li_ming"
text = "Why?"
"""
CODE = """
default = "master"
[[commit]]
at = 2026-01-05T10:00:00
by = "li_ming"
message = "Begin"
tag = "v1"
release = "First\\n\\nNotes."
[[commit]]
at = 2026-01-06T10:00:00
by = "david_wong"
message = "TLS"
branch = "feature/ssl"
files = "second"
[[commit]]
at = 2026-01-07T10:00:00
by = "li_ming"
message = "Go on"
"""


def numbered(root: Path) -> Path:
    made = company(root)
    admin = COMPANY.replace('also = ["root"]', 'also = ["root"]\nadmin = true')
    files = {
        "company.toml": admin, "projects/numbered.toml": TABLE.replace('source =', 'target = "master"\nsource ='),
        "repositories/numbered.toml": CODE, "repositories/numbered/second/tls.py": "TLS = True\n",
    }  # fmt: skip
    for name, text in files.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    return made


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.long(seconds=60)
@pytest.mark.thorough(quick="workplace/test_given_numbers_and_roles.py::test_faults_of_numbers_and_branches_are_named")
async def test_dialects_show_what_a_company_gives(tmp_path: Path) -> None:
    def work(at: Mapping[str, str]) -> None:
        def git(place: str, method: str = "GET", /, **body: object) -> Any:
            head = {"PRIVATE-TOKEN": "root-token"}
            answer = requests.request(
                method, f"{at['git']}/api/v4/{place}", json=body or None, headers=head, timeout=60
            )
            assert answer.status_code < 300, answer.text
            return answer.json() if answer.content else None

        _gitlab(git)
        _plane(at["tracker"])
        page = requests.get(f"{at['git']}/root/numbered/-/issues/200", timeout=60, allow_redirects=False)
        assert page.headers["Location"].endswith("/issues/200")
        git("projects", "POST", name="New Storage", path="new-storage", initialize_with_readme=True)
        assert git("projects/root%2Fnew-storage/repository/tree")[0]["path"] == "README.md"
        git("projects/root%2Fnumbered", "DELETE")
        assert [one["path"] for one in git("projects")] == ["board", "new-storage", "openhands"]

    await during(numbered(tmp_path / "company"), work, lambda at: None)


def _gitlab(git: Any) -> None:
    own = "projects/root%2Fnumbered"
    rows = {one["iid"]: one for one in git(f"{own}/issues?per_page=100")}
    assert {number: one["title"] for number, one in rows.items()} == {200: "A bug", 201: "Follows", 140: "Early"}
    assert rows[140]["labels"] == ["bug", "priority"]
    assert rows[200]["references"]["short"] == "#200"
    assert git(f"{own}/issues/140", "PUT", remove_labels="bug")["labels"] == ["priority"]
    assert git(f"{own}/issues", "POST", title="New")["iid"] == 202
    assert git(f"{own}/issues/202")["title"] == "New"
    assert {one["name"]: one["color"] for one in git(f"{own}/labels")}["bug"] == "#ff0000"
    assert {one["name"] for one in git(f"{own}/repository/branches")} == {"master", "feature/ssl"}
    assert git(f"{own}/releases")[0]["name"] == "First"
    [asked] = git(f"{own}/merge_requests?state=opened")
    assert (asked["iid"], asked["source_branch"], asked["labels"]) == (17, "feature/ssl", ["bug"])
    assert git(f"{own}/merge_requests/17/notes")[0]["body"] == "Why?"
    assert [one["access_level"] for one in git(f"{own}/members") if one["username"] == "li_ming"] == [40]
    git(f"{own}/protected_branches/master", "DELETE")
    git(f"{own}/protected_branches", "POST", name="master", push_access_level=0, merge_access_level=30)
    [rule] = git(f"{own}/protected_branches")
    assert rule["push_access_levels"][0]["access_level"] == 0
    actions = [{"action": "create", "file_path": ".gitlab-ci.yml", "content": "x: {script: ls}\n"}]
    git(f"{own}/repository/commits", "POST", branch="master", commit_message="CI", actions=actions)
    assert [(one["ref"], one["status"]) for one in git(f"{own}/pipelines")] == [("master", "pending")]


def _plane(address: str) -> None:
    def ask(path: str, method: str = "GET", **body: object) -> Any:
        base, auth = f"{address}/api/v1/workspaces/tac/projects/", ("theagentcompany", "theagentcompany")
        answer = requests.request(method, base + path, json=body or None, auth=auth, timeout=60)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    own = "2bc631a1-8515-4bca-858e-129337c83c8d"
    assert ask(f"{own}/")["name"] == "Numbered"
    assert ask(f"{own}/issues/5d1c8695-acfd-44c2-8d2d-e41c67cdd8c0/")["name"] == "Follows"
    assert ask(f"{own}/cycles/8eba9853-4178-42a6-b113-e66002e8e0ab/")["name"] == "Sprint 1"
    made = ask("", "POST", name="Backend Development")["id"]
    ask(f"{made}/members/", "POST", members=[{"member_id": "li_ming"}])
    assert [one["display_name"] for one in ask(f"{made}/members/")] == ["li_ming"]
    ask(f"{made}/", "DELETE")
    assert "Backend Development" not in [one["name"] for one in ask("")["results"]]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("number = 140", "number = 200"), "two have the number 200"),
        (('source = "feature/ssl"', 'source = "feature/tls"'), "no branch 'feature/tls'"),
        (('li_ming = "Manager"', 'nobody = "Manager"'), "no person 'nobody'"),
        (('unit = "failed"', 'unit = "broken"'), "checks"),
    ],
)
def test_faults_of_numbers_and_branches_are_named(change: tuple[str, str], fault: str, tmp_path: Path) -> None:
    root = numbered(tmp_path)
    assert read_company(root).projects[1].issue[0].number == 200
    place = root / "projects/numbered.toml"
    place.write_text(place.read_text().replace(*change))
    with pytest.raises(ManifestError, match=fault):
        read_company(root)
