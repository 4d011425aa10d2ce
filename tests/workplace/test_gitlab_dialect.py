"""GitLab's REST API and git over HTTP, used by the real client and by TheAgentCompany's evaluators."""

from __future__ import annotations

import os
import subprocess
import urllib.parse
from pathlib import Path
from typing import Any

import gitlab
import pytest
import requests

from workplace.firm_with_code import TOKEN, company, during

pytestmark = [
    pytest.mark.box,
    pytest.mark.workplace,
    pytest.mark.thorough(
        quick="workplace/test_code_dialects_without_services.py::test_missing_gitlab_features_are_refused"
    ),
    pytest.mark.long(seconds=60),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


async def test_real_gitlab_client_works(tmp_path: Path) -> None:
    await during(company(tmp_path / "company"), lambda at: _work(at["git"], tmp_path), lambda at: _unchanged(at["git"]))


def _work(address: str, folder: Path) -> None:
    me = gitlab.Gitlab(address, private_token=TOKEN, per_page=1)
    me.auth()
    assert me.user is not None
    assert (me.user.username, me.version()[0]) == ("theagentcompany", "17.5.1")
    david = _as_david(address)
    assert [one.path for one in me.projects.list(iterator=True)] == ["openhands"]
    assert sorted(one.path for one in david.projects.list(get_all=True)) == ["board", "openhands"]
    project = me.projects.get("root/openhands")
    assert (project.name, project.default_branch, project.open_issues_count) == ("openhands", "main", 2)
    assert me.projects.get(project.id).path_with_namespace == "root/openhands"
    with pytest.raises(gitlab.exceptions.GitlabGetError, match="404"):
        me.projects.get("root/board")
    people = {one.username: one for one in me.users.list(get_all=True)}
    assert {one.username for one in project.members.list(get_all=True)} >= {"theagentcompany", "david_wong", "li_ming"}
    _code(project)
    _issues(project, people)
    _merge_requests(project, david)
    _wiki(project)
    _over_git(address, folder)


def _as_david(address: str) -> gitlab.Gitlab:
    given = {"grant_type": "password", "username": "david_wong", "password": "of-david-alone"}
    said = requests.post(f"{address}/oauth/token", data=given, timeout=60).json()
    wrong = requests.post(f"{address}/oauth/token", data={**given, "password": "x"}, timeout=60)
    assert (wrong.status_code, wrong.json()["error"]) == (400, "invalid_grant")
    first = gitlab.Gitlab(address, oauth_token=said["access_token"])
    token = first.http_post("/user/personal_access_tokens", post_data={"name": "x", "scopes": ["api"]})["token"]  # type: ignore[index]
    return gitlab.Gitlab(address, private_token=token)


def _code(project: Any) -> None:
    tree = project.repository_tree(recursive=True, get_all=True)
    files = [one["path"] for one in tree if one["type"] == "blob"]
    assert files == ["README.md", "src/a & b.py", "src/rates.py"]
    read = project.files.get("src/a & b.py", ref="main")
    assert read.decode() == b"x = 1\n"
    assert project.files.raw(file_path="README.md", ref="main") == b"# OpenHands\n"
    assert [one.title for one in project.commits.list(get_all=True)] == ["Rates", "Begin"]
    assert project.commits.list(query_parameters={"path": "README.md"}, get_all=True)[0].author_name == "Li Ming"
    last = project.commits.get("main")
    assert (last.message.strip(), last.stats["additions"]) == ("Rates\n\nfrom finance", 1)
    assert [one["new_path"] for one in last.diff(get_all=True)] == ["src/rates.py"]
    project.branches.create({"branch": "feature/x", "ref": "main"})
    read.content = "x = 2\n"
    read.save(branch="feature/x", commit_message="Two")
    project.files.create(
        {"file_path": "docs/new.md", "branch": "feature/x", "content": "new\n", "commit_message": "New"}
    )
    actions = [
        {"action": "move", "file_path": "src/prices.py", "previous_path": "src/rates.py"},
        {"action": "delete", "file_path": "docs/new.md"},
        {"action": "create", "file_path": "run.sh", "content": "IyE=", "encoding": "base64", "execute_filemode": True},
    ]
    made = project.commits.create({"branch": "feature/x", "commit_message": "Many", "actions": actions})
    assert made.author_name == "The Agent"
    tree = project.repository_tree(ref="feature/x", recursive=True, get_all=True)
    modes = {one["path"]: one["mode"] for one in tree if one["type"] == "blob"}
    assert (sorted(modes), modes["run.sh"]) == (["README.md", "run.sh", "src/a & b.py", "src/prices.py"], "100755")
    compared = project.repository_compare("main", "feature/x")
    assert [one["title"] for one in compared["commits"]] == ["Two", "New", "Many"]
    assert {one["new_path"] for one in compared["diffs"] if one["renamed_file"]} == {"src/prices.py"}
    assert {one.name for one in project.branches.list(get_all=True)} == {"main", "feature/x"}
    project.tags.create({"tag_name": "v1", "ref": "main"})
    project.releases.create({"tag_name": "v2", "ref": "main", "name": "Two", "description": "All new"})
    assert {one.name for one in project.tags.list(get_all=True)} == {"v1", "v2"}
    [release] = project.releases.list(get_all=True)
    assert (release.tag_name, release.name, release.description) == ("v2", "Two", "All new")
    project.tags.delete("v1")
    for refused in ({"action": "create", "file_path": "README.md"}, {"action": "update", "file_path": "none.md"}):
        with pytest.raises(gitlab.exceptions.GitlabCreateError, match="400"):
            project.commits.create({"branch": "main", "commit_message": "No", "actions": [refused]})
    with pytest.raises(gitlab.exceptions.GitlabGetError, match="404"):
        project.files.get("none.md", ref="main")


def _issues(project: Any, people: dict[str, Any]) -> None:
    first = project.issues.list(search="recall", get_all=True)[0]
    assert (first.state, first.milestone["title"], first.author["username"]) == ("opened", "Sprint 1", "li_ming")
    assert [one.body for one in first.notes.list(get_all=True)] == ["Costs us money."]
    first.notes.create({"body": "Closing due to inactivity"})
    first.labels = ["bug", "model"]
    first.state_event = "close"
    first.save()
    assert [one.title for one in project.issues.list(state="opened", get_all=True)] == ["Model: security problem"]
    assert [one.title for one in project.issues.list(labels=["bug"], get_all=True)] == ["Model: recall rate is 0"]
    assert {one.name for one in project.labels.list(get_all=True)} == {"bug", "model"}
    milestone = project.milestones.create({"title": "Beta", "due_date": "2026-05-01"})
    made = project.issues.create(
        {"title": "New one", "description": "Why", "milestone_id": milestone.id, "assignee_ids": [people["li_ming"].id]}
    )
    made = project.issues.get(made.iid)
    assert (made.assignee["username"], made.milestone["due_date"]) == ("li_ming", "2026-05-01")
    assert project.issues.list(assignee_id=people["li_ming"].id, milestone="Beta", get_all=True)[0].iid == made.iid
    milestone.state_event = "close"
    milestone.save()
    assert project.milestones.list(search="Beta", get_all=True)[0].state == "closed"
    # What the tracker's role may not do it leaves as it was without a word; here it is said.
    closed = project.issues.get(first.iid)
    closed.state_event = "reopen"
    with pytest.raises(gitlab.exceptions.GitlabUpdateError, match="403"):
        closed.save()


def _merge_requests(project: Any, david: gitlab.Gitlab) -> None:
    made = project.mergerequests.create({"source_branch": "feature/x", "target_branch": "main", "title": "Take it"})
    assert (made.state, made.author["username"], made.has_conflicts) == ("opened", "theagentcompany", False)
    assert {one["new_path"] for one in made.changes()["changes"]} == {"run.sh", "src/a & b.py", "src/prices.py"}
    assert [one.title for one in made.commits()] == ["Many", "New", "Two"]
    with pytest.raises(gitlab.exceptions.GitlabCreateError, match="409"):
        project.mergerequests.create({"source_branch": "feature/x", "target_branch": "main", "title": "Again"})
    theirs = david.projects.get("root/openhands").mergerequests.get(made.iid)
    theirs.notes.create({"body": "Fine with me"})
    theirs.merge()
    merged = project.mergerequests.get(made.iid)
    assert (merged.state, merged.merged_by["username"]) == ("merged", "david_wong")
    assert [one.body for one in merged.notes.list(get_all=True)] == ["Fine with me"]
    head = project.commits.get("main")
    assert (len(head.parent_ids), head.author_name) == (2, "David Wong")
    for branch, line in (("left", "left\n"), ("right", "right\n")):
        values = {"branch": branch, "start_branch": "main", "commit_message": line, "actions": [
            {"action": "update", "file_path": "README.md", "content": line}]}  # fmt: skip
        project.commits.create(values)
        project.mergerequests.create({"source_branch": branch, "target_branch": "main", "title": branch})
    left, right = (project.mergerequests.list(search=name, get_all=True)[0] for name in ("left", "right"))
    left.merge()
    assert project.mergerequests.get(right.iid).has_conflicts
    with pytest.raises(gitlab.exceptions.GitlabMRClosedError, match="422"):
        right.merge()
    right.state_event = "close"
    right.save()
    assert {one.title: one.state for one in project.mergerequests.list(get_all=True)} == {
        "Take it": "merged", "left": "merged", "right": "closed",
    }  # fmt: skip


def _wiki(project: Any) -> None:
    assert [one.slug for one in project.wikis.list(get_all=True)] == ["Start"]
    project.wikis.create({"title": "How to", "content": "Slowly.\n"})
    page = project.wikis.get("How_to")
    page.content = "Quickly.\n"
    page.save()
    whole = project.wikis.list(with_content=1, get_all=True)
    assert {one.title: one.content for one in whole}["How to"] == "Quickly.\n"


def _over_git(address: str, folder: Path) -> None:
    """Account and password, further names and tokens; with and without `.git`."""
    host = address.removeprefix("http://")
    for number, who in enumerate(("root:theagentcompany", f"oauth2:{TOKEN}", "theagentcompany:theagentcompany")):
        where = folder / f"clone-{number}"
        ending = "" if number else ".git"
        _git("clone", "-q", f"http://{who}@{host}/root/openhands{ending}", str(where))
        assert (where / "README.md").read_text() == "left\n"
    (where / "big.bin").write_bytes(os.urandom(3_000_000))
    _git("-C", str(where), "add", "-A")
    named = ("-c", "user.name=The Agent", "-c", "user.email=agent@x.invalid")
    _git("-C", str(where), *named, "commit", "-qm", "Pushed")
    _git("-C", str(where), "push", "-q", "origin", "HEAD:pushed")
    me = gitlab.Gitlab(address, private_token=TOKEN)
    assert me.projects.get("root/openhands").branches.get("pushed").commit["title"] == "Pushed"
    wrong = subprocess.run(
        ["git", "ls-remote", f"http://root:wrong@{host}/root/openhands.git"],
        capture_output=True, check=False, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
    )  # fmt: skip
    assert wrong.returncode != 0


def _git(*words: str) -> None:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _unchanged(address: str) -> None:
    """After a reset: what was done is gone, a token that was made is none."""
    me = gitlab.Gitlab(address, private_token=TOKEN)
    project = me.projects.get("root/openhands")
    assert [one.name for one in project.branches.list(get_all=True)] == ["main"]
    assert not project.mergerequests.list(get_all=True)
    assert not project.labels.list(get_all=True)
    assert {one.state for one in project.issues.list(get_all=True)} == {"opened"}


async def test_calls_of_the_original_evaluators_work(tmp_path: Path) -> None:
    """Those that `common.py` makes, and what a person or a stranger gets instead."""

    def work(at: dict[str, str]) -> None:
        def ask(project: str | None, path: str | None = None, method: str = "GET", **given: Any) -> requests.Response:
            url = f"{at['git']}/api/v4"
            url += f"/projects/{urllib.parse.quote(project, safe='')}" if project else ""
            url += f"/{path}" if path else ""
            return requests.request(method, url, headers={"PRIVATE-TOKEN": TOKEN}, params=given, timeout=60)

        assert [one["name"] for one in ask(None, "projects").json()] == ["openhands"]
        number = str(ask(None, "projects").json()[0]["id"])
        made = ask("root/openhands", "issues", "POST", title="Model: new")
        assert made.status_code == 201
        assert (
            ask("root/openhands", f"issues/{made.json()['iid']}?state_event=close", "PUT").json()["state"] == "closed"
        )
        assert [one["title"] for one in ask("root/openhands", "issues", search="security").json()] == [
            "Model: security problem"
        ]
        assert ask("root/openhands", "milestones", "POST", title="Alpha Release").status_code == 201
        assert ask("root/openhands", "milestones", search="Alpha").json()[0]["state"] == "active"
        assert ask("root/openhands", "repository/files/README%2Emd/raw?ref=main").text == "# OpenHands\n"
        assert ask("root/openhands", "repository/branches/feature%2Fssl").status_code == 404
        assert ask(number, "merge_requests?state=opened").json() == []
        assert ask("root/none").status_code == 404
        assert ask("root/openhands", "pipelines").json() == []
        [rule] = ask("root/openhands", "protected_branches").json()
        assert (rule["name"], rule["push_access_levels"][0]["access_level"]) == ("main", 40)
        assert ask("root/openhands", "pipeline_schedules").status_code == 501
        assert ask(None, "projects", "POST", name="new").status_code == 403  # the account is no administrator
        nobody = requests.get(f"{at['git']}/api/v4/projects", timeout=60)
        assert (nobody.status_code, nobody.json()) == (401, {"message": "401 Unauthorized"})
        page = requests.get(f"{at['git']}/root/openhands/-/issues/1", timeout=60, allow_redirects=False)
        assert (page.status_code, page.headers["Location"]) == (302, "http://tracker:8091/issues/1")
        asked = requests.get(f"{at['git']}/.worksample/refused", auth=("operator", "x"), timeout=60)
        assert asked.status_code == 404

    await during(company(tmp_path / "company"), work, lambda at: _unchanged(at["git"]))
