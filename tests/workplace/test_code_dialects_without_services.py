"""Dialects of GitLab and Plane: accounts, texts and repositories, without any service."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.tasks.workplace_settings import check_workplace, endpoints_of_workplace
from worksample.workplace.in_box.dialects.accounts import DialectAccounts
from worksample.workplace.in_box.dialects.backend import Backend
from worksample.workplace.in_box.dialects.bare_repository import (
    BareRepository,
    FileChange,
    NotFound,
    check_branch,
    check_path,
)
from worksample.workplace.in_box.dialects.gitlab.api import GitLab
from worksample.workplace.in_box.dialects.http_messages import DialectRefused, DialectRequest
from worksample.workplace.in_box.dialects.json_tables import JsonTables, labels_of, set_labels
from worksample.workplace.in_box.dialects.plane.api import Plane
from worksample.workplace.in_box.dialects.plane.serializers import as_html, as_text
from worksample.workplace.in_box.dialects.server import REFUSED, DialectFront

PASSWORDS = {"theagentcompany": "mine-alone", "operator": "of-the-operator"}
NOBODY = Backend("/nonexistent", "tracker")


def known(folder: Path) -> DialectAccounts:
    place = folder / "accounts.json"
    place.write_text(json.dumps({"names": {"root": "theagentcompany"}, "tokens": {"root-token": "theagentcompany"}}))
    return DialectAccounts(PASSWORDS, place)


def asked(method: str, path: str, body: bytes = b"", query: str = "", **heads: str) -> DialectRequest:
    words = dict(part.split("=") for part in query.split("&") if part)
    return DialectRequest(
        method, path, words, {key.replace("_", "-"): value for key, value in heads.items()}, body, "http://x"
    )


def test_requester_is_identified_by_password_or_token(tmp_path: Path) -> None:
    accounts = known(tmp_path)

    def who(**heads: str) -> str | None:
        found = accounts.find_account(asked("GET", "/", **heads))
        return None if found is None else found.name

    def basic(text: str) -> str:
        return "Basic " + base64.b64encode(text.encode()).decode()

    assert who(private_token="root-token") == who(x_api_key="root-token") == "theagentcompany"
    assert (
        who(authorization=basic("root:mine-alone"))
        == who(authorization=basic("oauth2:root-token"))
        == "theagentcompany"
    )
    assert who(private_token="of-the-operator") == "operator"
    for wrong in ("root:wrong", "root:", ":", "operator:", "theagentcompany:mine-alone2"):
        assert who(authorization=basic(wrong)) is None
    assert who(private_token="mine-alone") is None
    assert who(private_token="") is who() is None
    made = accounts.token_for(accounts.operator(), "x-")
    assert who(private_token=made) == "operator"
    accounts.forget(made)
    assert who(private_token=made) is None


def test_missing_gitlab_features_are_refused(tmp_path: Path) -> None:
    dialect = GitLab(known(tmp_path), tmp_path, tracker=NOBODY)
    for method, path in (
        ("PUT", "/api/v4/users/1"), ("GET", "/api/v4/runners"), ("POST", "/api/v4/projects/1/hooks"),
    ):  # fmt: skip
        answer = dialect.answer(asked(method, path, private_token="root-token"))
        assert answer.status == 501, path
        assert isinstance(answer.body, bytes)
        assert b"not served by this workplace" in answer.body
    assert dialect.answer(asked("GET", "/api/v4/projects", private_token="x")).status == 401
    assert dialect.answer(asked("GET", "/api/v4/projects", query="sudo=root", private_token="root-token")).status == 501
    upload = {"private_token": "root-token", "content_type": "multipart/form-data; boundary=x"}
    assert dialect.answer(asked("PUT", "/api/v4/projects/1", **upload)).status == 501
    with pytest.raises(DialectRefused, match="page"):
        dialect.answer(asked("GET", "/root/x/-/pipelines"))


def test_missing_plane_features_are_refused(tmp_path: Path) -> None:
    dialect = Plane(known(tmp_path), tmp_path, tracker=NOBODY)
    answer = dialect.answer(asked("GET", "/api/v1/workspaces/tac/projects/x//pages/", x_api_key="root-token"))
    assert answer.status == 501
    assert dialect.answer(asked("GET", "/api/v1/workspaces/tac/projects/")).status == 401


def test_replaced_page_is_remembered(tmp_path: Path) -> None:
    """A browser goes on to it; a grader that took it for the page it wanted would call right work wrong."""
    front = DialectFront({"gitlab": GitLab(known(tmp_path), tmp_path, tracker=NOBODY).answer}, "of-the-operator")
    answer = front.answer("gitlab", asked("GET", "/root/doc/-/wikis/Home"))
    assert (answer.status, answer.headers["Location"]) == (302, "http://tracker:8091/projects/doc/wiki/Home")
    told = front.answer("gitlab", asked("GET", REFUSED, x_redmine_api_key="of-the-operator"))
    assert isinstance(told.body, bytes)
    assert [one["path"] for one in json.loads(told.body)["refused"]] == ["/root/doc/-/wikis/Home"]
    assert front.answer("gitlab", asked("GET", REFUSED, x_redmine_api_key="x")).status == 404
    assert front.answer("gitlab", asked("GET", REFUSED)).status == 404


@given(
    st.lists(st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="<>&\r"), min_size=1), min_size=1)
)
def test_plane_reads_what_it_writes(words: list[str]) -> None:
    text = "\n\n".join(words)
    assert as_text(as_html(text)) == text


def test_editors_markup_becomes_text() -> None:
    assert (
        as_text("<h2>Why</h2><ul><li>One &lt;b&gt;</li><li>Two</li></ul><p>x<br/>y</p>")
        == "Why\n\nOne <b>\nTwo\n\n\nx\ny"
    )


@given(st.text(max_size=40))
def test_paths_cannot_leave_a_repository(path: str) -> None:
    try:
        found = check_path(path)
    except DialectRefused:
        return
    assert not found.startswith("/")
    assert not {"..", ".", ".git"} & set(found.split("/"))


@given(st.text(max_size=20))
def test_accepted_branch_names_are_valid_for_git(name: str) -> None:
    try:
        check_branch(name)
    except DialectRefused:
        return
    assert not name.startswith("-")
    assert subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"], check=False).returncode == 0


def test_bare_repository_is_written_without_a_checkout(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "x.git")], check=True)
    code, by = BareRepository(tmp_path / "x.git"), ("Rosa <x>", "rosa@x.invalid")
    assert (code.default_branch(), code.branches(), code.tags()) == (None, {}, [])
    first = code.commit_changes(
        "main", "", [FileChange("ä b/c.txt", b"1\n2\n"), FileChange("run", b"#!", "100755")], "One\n\nwhy", by
    )
    assert (code.default_branch(), code.commit("main")["author_name"]) == ("main", "Rosa x")
    assert code.file("main", "ä b/c.txt")[2] == b"1\n2\n"
    assert [row["new_path"] for row in code.difference("", first)] == ["run", "ä b/c.txt"]
    other = code.commit_changes(
        "other", "main", [FileChange("ä b/c.txt", None), FileChange("moved.txt", b"1\n2\n")], "Moved", by
    )
    [row] = code.difference(first, other)
    assert (row["renamed_file"], row["old_path"], row["new_path"]) == (True, "ä b/c.txt", "moved.txt")
    code.commit_changes("main", "", [FileChange("ä b/c.txt", b"1\n2\n3\n")], "Three", by)
    assert not code.conflicts("main", "other")
    merged = code.merge("main", other, "Merge", by)
    assert merged is not None
    assert code.file("main", "moved.txt")[2] == b"1\n2\n3\n"
    assert {one["title"] for one in code.log("main", without=first)} == {"Merge", "Three", "Moved"}
    with pytest.raises(DialectRefused, match="in the meantime"):
        code.move("main", first, other)
    for ref in ("none", "--all", "", "main:run"):
        with pytest.raises(NotFound):
            code.resolve(ref)
    code.tag("v1", "main", "Release\n\nof all", by)
    assert [(one["name"], one["message"], one["commit"]) for one in code.tags()] == [
        ("v1", "Release\n\nof all", merged)
    ]


def test_refused_label_loses_no_other(tmp_path: Path) -> None:
    kept = JsonTables(tmp_path / "own")
    with kept.edit("x") as table:
        set_labels(table, 7, ["bug", "bug", "ä"])
    with pytest.raises(DialectRefused), kept.edit("x") as table:
        set_labels(table, 7, ["", "other"])
    assert labels_of(kept.read("x"), 7) == ["bug", "ä"]
    assert [one["id"] for one in kept.read("x")["labels"]] == [1, 2]
    assert kept.read("y") == {}


def test_gitlab_needs_the_tracker() -> None:
    with pytest.raises(ValueError, match="'gitlab' needs the service 'tracker'"):
        check_workplace("workplace", "company", None, ["git"], ["gitlab"])
    check_workplace("workplace", "company", None, ["git", "tracker"], ["gitlab", "plane"])
    places = {(one.name, one.port): one.to for one in endpoints_of_workplace(["git", "tracker"], ["gitlab", "plane"])}
    assert places["gitlab", 8929] == "service:workplace:8929"
    assert places["plane", 8091] == "service:workplace:8091"
