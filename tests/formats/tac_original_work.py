"""Right work at tasks of TheAgentCompany's own repository through GitLab and Plane, and substitutes for its projects.

The original projects are in images. The substitutes have only their names.
"""

from __future__ import annotations

import json
from pathlib import Path

from formats.tac_port_work import Work

_RELEASE = """sql feature
Query syntax:
Public preview: Supports AS CHANGELOG to convert any stream into an append-only changelog.
SQL commands:
Breaking change: DECLARE cursor_name SUBSCRIPTION CURSOR is the same as DECLARE cursor_name SUBSCRIPTION CURSOR since now(), which will be consumed from the current time. DECLARE cursor_name SUBSCRIPTION CURSOR FULL will start consuming data from stock. The type of operation has changed to varchar. It is one of Insert, Delete, UpdateInset, or UpdateDelete."""  # noqa: E501
_TITLE = "fix(meta): fix vnode count data type when querying system table rw_fragments"
_META = "src/meta/src/controller/utils.rs"
_CODE = "pub struct Fragments {{\n    pub vnode_count: {kind},\n}}\n"
_GUIDE = "# Contribute\n\n## Using VSCode\n\nx\n\n## Other IDEs or editors\n\nx\n\n## Without dev container\n\nx\n"

STAND_INS = {
    "projects/sotopia.toml": 'title = "sotopia"\n',
    "repositories/sotopia.toml": "sotopia",
    "repositories/sotopia/first/README.md": "# Sotopia\n\nAgents who talk.\n",
    "repositories/sotopia/first/docs/pages/contribution/contribution.md": "# Contribute\n",
    "projects/api-server.toml": 'title = "api-server"\n',
    "repositories/api-server.toml": "api-server",
    "repositories/api-server/first/README.md": "# API server\n",
    "projects/risingwave.toml": """
title = "RisingWave"
[[sprint]]
name = "Alpha Release"
begins = 2024-01-01
ends = 2099-12-31
[[sprint]]
name = "Sprint 2"
begins = 2100-01-01
ends = 2100-12-31
[[issue]]
subject = "Evaluate data throughput"
by = "theagentcompany"
at = 2024-10-02T09:00:00
sprint = "Alpha Release"
[[issue]]
subject = "Decrease database latency"
by = "theagentcompany"
at = 2024-10-02T09:00:00
status = "In Progress"
sprint = "Alpha Release"
[[issue]]
subject = "Implement stream processing engine"
by = "theagentcompany"
at = 2024-10-02T09:00:00
[[issue]]
subject = "Integrate with Kafka"
by = "theagentcompany"
at = 2024-10-02T09:00:00
""",
    "repositories/risingwave.toml": "risingwave",
    f"repositories/risingwave/first/{_META}": _CODE.format(kind="i64"),
    "repositories/risingwave/first/risedev.yml": "x: 1\n",
    "projects/frontend.toml": 'title = "Frontend Development"\n',
}
"""Files of a company's folder."""


def write_stand_ins(folder: Path) -> Path:
    """Write the substitutes into a folder."""
    commit = '[[commit]]\nat = 2024-10-01T09:00:00\nby = "theagentcompany"\nmessage = "Begin"\nfiles = "first"\n'
    for name, text in STAND_INS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(commit if name.startswith("repositories/") and name.endswith(".toml") else text)
    return folder


_HELP = """
import json, urllib.error, urllib.parse, urllib.request

def ask(method, url, body=None, head={"PRIVATE-TOKEN": "root-token"}):
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json", **head}, method=method)
    with urllib.request.urlopen(asked, timeout=120) as answer:
        return json.loads(answer.read() or b"null")

def git(method, project, path, body=None):
    return ask(method, "http://the-agent-company.com:8929/api/v4/projects/root%2F" + project + path, body)

def plane(method, path, body=None):
    head = {"Authorization": "Basic dGhlYWdlbnRjb21wYW55OnRoZWFnZW50Y29tcGFueQ=="}
    return ask(method, "http://the-agent-company.com:8091/api/v1/workspaces/tac/projects/" + path, body, head)

def look(url):
    try:
        urllib.request.urlopen(url, timeout=120).read()
    except urllib.error.HTTPError:
        pass  # a visit that the service refuses is a visit

def named(rows, name, key="name"):
    return [row for row in rows if row[key] == name][0]

def commit(project, branch, path, text):
    action = {"action": "update", "file_path": path, "content": text}
    git("POST", project, "/repository/commits", {"branch": branch, "start_branch": "main", "commit_message": "Work",
        "actions": [action]})

def merge_request(project, branch, title):
    git("POST", project, "/merge_requests", {"source_branch": branch, "target_branch": "main", "title": title})
"""

PROGRAMS = {
    "sde-create-new-release": f"""
git("POST", "risingwave", "/releases", {{"tag_name": "v2", "ref": "main", "name": "release-2024-10-12",
    "description": {json.dumps(_RELEASE)}}})
""",
    "sde-update-dev-document": f"""
commit("sotopia", "guide", "docs/pages/contribution/contribution.md", {json.dumps(_GUIDE)})
merge_request("sotopia", "guide", "Update contribution document")
""",
    "sde-update-readme": """
commit("api-server", "main", "README.md", "# API server\\n\\n## Contribute to this project\\n\\nFork it, then ask.\\n")
""",
    "sde-add-wiki-page": """
git("POST", "sotopia", "/wikis", {"title": "Sotopia", "content": "Agents who talk."})
look("http://the-agent-company.com:8929/root/sotopia")
""",
    "pm-create-plane-issue": """
project = named(plane("GET", "")["results"], "Frontend Development")["id"]
plane("POST", project + "/issues/", {"name": "Improve Page Loading Speed"})
""",
    "sde-update-issue-status-on-plane": """
project = named(plane("GET", "")["results"], "RisingWave")["id"]
issues = plane("GET", project + "/issues/")["results"]
done = named(plane("GET", project + "/states/")["results"], "Done")["id"]
plane("PATCH", project + "/issues/" + named(issues, "Evaluate data throughput")["id"] + "/", {"state": done})
sprint = named(plane("GET", project + "/cycles/")["results"], "Sprint 2")["id"]
late = named(issues, "Decrease database latency")["id"]
plane("POST", project + "/cycles/" + sprint + "/cycle-issues/", {"issues": [late]})
""",
    "pm-update-project-milestones": """
look("http://the-agent-company.com:8929/root/risingwave/-/milestones")
alpha = named(git("GET", "risingwave", "/milestones"), "Alpha Release", "title")
beta = git("POST", "risingwave", "/milestones", {"title": "Beta Release"})
for title in ("Implement stream processing engine", "Integrate with Kafka"):
    issue = named(git("GET", "risingwave", "/issues"), title, "title")
    git("PUT", "risingwave", "/issues/%d" % issue["iid"], {"milestone_id": beta["id"]})
git("PUT", "risingwave", "/milestones/%d" % alpha["id"], {"state_event": "close"})
""",
    "sde-close-all-gitlab-issues": """
for project in ask("GET", "http://the-agent-company.com:8929/api/v4/projects?per_page=100"):
    for issue in git("GET", project["path"], "/issues?state=opened&per_page=100"):
        git("PUT", project["path"], "/issues/%d" % issue["iid"], {"state_event": "close"})
""",
    "sde-fix-rising-wave-datatype": f"""
commit("risingwave", "fix", "{_META}", {json.dumps(_CODE.format(kind="i32"))})
merge_request("risingwave", "fix", {json.dumps(_TITLE)})
""",
}
"""Task -> the program that its agent runs."""
_FILES = {
    "sde-update-dev-document": {"sotopia/docs/pages/contribution/contribution.md": _GUIDE.encode()},
    "sde-fix-rising-wave-datatype": {
        f"risingwave/{_META}": _CODE.format(kind="i32").encode(), "risingwave/risedev.yml": b"x: 1\n",
    },
}  # fmt: skip


def right_work() -> list[Work]:
    """Return the right work at each task."""
    return [Work(task, "right", _FILES.get(task, {}), program=_HELP + program) for task, program in PROGRAMS.items()]


def no_work(task: str) -> Work:
    """Return an agent's work that does nothing."""
    return Work(task, "nothing")
