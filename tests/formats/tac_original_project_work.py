"""Right work and half of it at originals of TheAgentCompany over projects that were written from brief and reference.

The projects are not the original's data: the images that hold these are not public. They have what the briefs name.
"""

from __future__ import annotations

from formats.tac_original_helper import HELPER, deck_of
from formats.tac_port_work import Work

AT = "2024-09-30T09:00:00"
_ROUTE = "issues"
_PLANE = {
    "JanusGraph": "f04e5c07-8fa2-4eaf-a35b-5cacf3f1d025", "OpenHands": "73cb74f7-a7ac-4292-a915-e2f59a09a703",
    "Sotopia": "2bc631a1-8515-4bca-858e-129337c83c8d", "RisingWave": "ea796314-eeec-41aa-816d-58be13909bf2",
    "Frontend Development": "39ccbb74-8f1d-4259-8f75-df9ffbc9a962",
}  # fmt: skip
"""Project of Plane -> its id, as briefs name it."""
_INSTRUCTIONS = "\n\n".join(
    f"{'#' * (1 if n else 2)} {title}\n\nRead it, then write the code of part {n} and its tests. "
    + "Count registers. " * 12
    for n, title in enumerate(("Instructions", "Setting Up Your Development Environment", "Testing"))
)
ASSIGNMENT = f"# HyperLogLog\n\nA project about the HyperLogLog algorithm.\n\n{_INSTRUCTIONS}\n"
REPLY = (
    "Alright, let's go ahead and increase the timeout limit bya few seconds on issue #4158 and monitory the result. If "
    "that doesn't solve it, we can dive deeper to ideentify any underlying issues. I'll start working on the update now."
)


def issue(subject: str, **keys: object) -> str:
    """Return the table of an issue."""
    import json

    given = {"subject": subject, "by": "theagentcompany", "at": AT, **keys}
    raw = ("at", "due")
    return "[[issue]]\n" + "".join(
        f"{key} = {value if key in raw else json.dumps(value)}\n" for key, value in given.items()
    )


def sprint(name: str, begins: str, ends: str) -> str:
    """Return the table of a sprint."""
    return f'[[sprint]]\nname = "{name}"\nbegins = {begins}\nends = {ends}\n'


_SPRINTS = sprint("Sprint 1", "2024-01-01", "2099-12-31") + sprint("Sprint 2", "2100-01-01", "2100-12-31")
_LOGGING, _RETRY = "Improve Logging for Bulk Request Failures", "Optimize Retry Mechanism for Out of Memory Errors"
_RECALL, _SECURITY = "Model: recall rate is 0", "Model: security problem"
_SOTOPIA = [
    issue("[FEAT]: Custom model docs", number=215), issue("[BUG] a bug with labels", number=200, labels=["bug"]),
    issue("Wrong colour of the page", number=140, labels=["bug"], status="Closed"),
    issue("[FEAT]: Unify evaluation prompt and episode rendering for human readers", labels=["priority"]),
    issue("Roadmap to Sotopia v0.1", labels=["priority"]), *(issue(f"Improve the docs, part {n}") for n in range(8)),
]  # fmt: skip
_OPENHANDS = [
    issue("Timeout of the runtime", number=4158, labels=["bug"], at="2024-10-02T09:00:00"),
    issue("Old question", number=3797), issue(_RECALL), issue(_SECURITY),
    issue("Crash of the shell", number=4166, labels=["bug"], at="2024-10-03T09:00:00", assigned="mike_chen"),
    issue("Wrong path", number=4164, labels=["bug"], at="2024-10-04T09:00:00"),
    issue("An older bug", number=3500, labels=["bug"], at="2024-08-04T09:00:00"),
]  # fmt: skip
_MATH = """examples:
- inputs:
    task: "What day of the week is 2099-01-01?"
  outputs:
    answer: "Saturday"
- inputs:
    task: "What is the integral of sin(x^2) evaluated from -1 to 1?"
  outputs:
    answer: "0.603848"
"""
PROJECTS: dict[str, str] = {
    "bustub": 'title = "bustub"\n' + issue("HyperLogLog", number=759, text=ASSIGNMENT),
    "sotopia": 'title = "sotopia"\n' + "".join(_SOTOPIA)
    + '[[merge_request]]\ntitle = "Add notes"\nby = "mike_chen"\nat = 2024-10-05T09:00:00\nsource = "notes"\n',
    "openhands": 'title = "openhands"\n' + "".join(_OPENHANDS),
    "janusgraph": 'title = "janusgraph"\n'
    + issue(_LOGGING) + issue(_RETRY, status="Closed") + issue("Fast scans", number=4641, at="2024-08-20T09:00:00"),
    "risingwave": 'title = "risingwave"\n' + sprint("Alpha Release", "2024-01-01", "2099-12-31")
    + sprint("release-1.9", "2024-11-01", "2024-11-30")
    + issue("Implement stream processing engine") + issue("Integrate with Kafka"),
    "opensearch": 'title = "opensearch"\n',
    "api-server": 'title = "api-server"\n',
    "llama": 'title = "llama"\n',
    "plane-janusgraph": f'title = "JanusGraph"\nplane = "{_PLANE["JanusGraph"]}"\n' + _SPRINTS
    + issue(_LOGGING, sprint="Sprint 1", status="In Progress") + issue(_RETRY, sprint="Sprint 1", status="In Progress")
    + issue("Research and design new algorithms", status="In Progress")
    + issue("Analyze current query performance bottlenecks", status="In Progress")
    + issue("Integrate algorithms into existing graph database"),
    "plane-openhands": f'title = "OpenHands"\nplane = "{_PLANE["OpenHands"]}"\n'
    + issue(_RECALL, plane="5d1c8695-acfd-44c2-8d2d-e41c67cdd8c0")
    + issue(_SECURITY, plane="8eba9853-4178-42a6-b113-e66002e8e0ab", status="Closed"),
    "plane-sotopia": f'title = "Sotopia"\nplane = "{_PLANE["Sotopia"]}"\n',
    "plane-risingwave": f'title = "RisingWave"\nplane = "{_PLANE["RisingWave"]}"\n' + _SPRINTS
    + issue("Evaluate data throughput", sprint="Sprint 1", status="In Progress", assigned="zhang_wei")
    + issue("Decrease database latency", sprint="Sprint 1", status="In Progress")
    + issue("Identify necessary operators and requirements", sprint="Sprint 1", assigned="liu_qiang")
    + issue("Conduct memory usage analysis", sprint="Sprint 1", status="In Progress", assigned="zhang_wei"),
    "plane-frontend": f'title = "Frontend Development"\nplane = "{_PLANE["Frontend Development"]}"\n',
}  # fmt: skip
_AGENT = "class LLMAgent:\n    def act(self) -> str:\n        return 'speak'\n"
_LICENCE = "Either APACHE-2.0 or CC-BY-4.0. Apache License\n"
CODE: dict[str, dict[str, str]] = {
    "sotopia": {
        "README.md": "# Sotopia\n\nAgents who talk.\n", "docs/pages/contribution/contribution.md": "# Contribute\n",
        "sotopia/agents/llm_agent.py": _AGENT, ".github/workflows/cli_tests.yml": "runs-on: macos-12\n",
    },
    "openhands": {".openhands_instructions": "x\n", "agenthub/micro/math_agent/agent.yaml": _MATH,
                  "evaluation/README.md": "Software Engineering: SWE-Bench\n"},
    "janusgraph": {".backportrc.json": "{}\n", "LICENSE.txt": _LICENCE},
    "colly": {"xmlelement_test.go": "package colly\n", "LICENSE.txt": _LICENCE},
    "streamlit": {".ruff.toml": "x = 1\n", "LICENSE": _LICENCE},
    "opensearch": {"README.md": "# OpenSearch\n"},
    "api-server": {"README.md": "# API server\n", "server.py": "# Welcome to the Flask API\n"},
    "risingwave": {"risedev.yml": "x: 1\n", "src/meta/src/controller/utils.rs": "pub struct F {\n    pub vnode_count: i64,\n}\n"},
    "copilot-arena-server": {"requirements.txt": "pandas>=2.2.0\nscikit-learn>=1.5.2\n"},
}  # fmt: skip
BRANCHES = {"sotopia": "notes", "opensearch": "feature/ssl"}


def stand_ins() -> dict[str, str]:
    """Return file -> text of the projects, in the form of a company's folder."""
    found = {f"projects/{name}.toml": text for name, text in PROJECTS.items() if name != "llama"}
    for name, files in CODE.items():
        commits = f'[[commit]]\nat = {AT}\nby = "theagentcompany"\nmessage = "Begin"\nfiles = "first"\n'
        if name in BRANCHES:
            more = f'at = {AT}\nby = "theagentcompany"\nmessage = "Side work"\nfiles = "side"\nbranch = "{BRANCHES[name]}"\n'
            commits += f"[[commit]]\n{more}"
            found[f"repositories/{name}/side/NOTES.md"] = "Notes.\n"
        found[f"repositories/{name}.toml"] = commits
        found |= {f"repositories/{name}/first/{path}": text for path, text in files.items()}
    return found


_PLANE_ROWS = """
def plane_of(name): return named(rows("projects/"), name)["id"]
def moved(name, title, sprint):
    p = plane_of(name); cycle = named(rows("projects/%s/cycles/" % p), sprint)["id"]
    plane("POST", "projects/%s/cycles/%s/cycle-issues/" % (p, cycle), {"issues": [named(rows("projects/%s/issues/" % p), title)["id"]]})
def stated(name, title, state):
    p = plane_of(name); to = named(rows("projects/%s/states/" % p), state)["id"]
    plane("PATCH", "projects/%s/issues/%s/" % (p, named(rows("projects/%s/issues/" % p), title)["id"]), {"state": to})
def state_of(name, title):
    p = plane_of(name); states = {one["id"]: one["group"] for one in rows("projects/%s/states/" % p)}
    return states[named(rows("projects/%s/issues/" % p), title)["state"]]
def titled(name, title): return named(project(name, "/issues?state=all&per_page=100"), title, "title")
"""
_MERGE = """
def merge_request(name, branch, title):
    project(name, "/merge_requests", "POST", {"source_branch": branch, "target_branch": "main", "title": title})
"""
_LOOK_ISSUES = ":8091/tac/projects/%s/issues/"
RIGHT: dict[str, str] = {
    "pm-ask-for-issue-and-create-in-gitlab": """
title = re.search("'(.*?)'", tell("li_ming", "Which issue do you want to work on in RisingWave?"))[1]
said = tell("mike_chen", "What are description and milestone of Li Ming's issue?")
about, milestone = re.search("description of the issue is '(.*?)'", said)[1], re.search("milestone is '(.*?)'", said)[1]
due = re.search("\\\\d{4}-\\\\d{2}-\\\\d{2}", tell("mark_johnson", "When is Li Ming's issue due?"))[0]
to = named(project("risingwave", "/milestones"), milestone, "title")["id"]
who = git("GET", "users?username=li_ming")[0]["id"]
project("risingwave", "/issues", "POST", {"title": title, "description": about, "milestone_id": to, "due_date": due, "assignee_ids": [who]})
""",
    "pm-ask-issue-assignee-for-issue-status-and-update-in-plane": """
if "completed" in tell("zhang_wei", "What is the status of 'Evaluate data throughput'?"): stated("RisingWave", "Evaluate data throughput", "Done")
""",
    "pm-copy-plane-issues-to-gitlab": f"""
look("{_LOOK_ISSUES % _PLANE['JanusGraph']}")
for one in rows("projects/%s/issues/" % plane_of("JanusGraph")):
    if state_of("JanusGraph", one["name"]) == "started" and one["name"] not in ("{_LOGGING}", "{_RETRY}"):
        project("janusgraph", "/issues", "POST", {{"title": one["name"]}})
""",
    "pm-create-plane-issue": f"""
look("{_LOOK_ISSUES % _PLANE['Frontend Development']}")
plane("POST", "projects/%s/issues/" % plane_of("Frontend Development"), {{"name": "Improve Page Loading Speed"}})
""",
    "pm-distribute-information": """
look(":8929/root/bustub/-/issues/759", "root")
people = {m["username"] for room in ("project-graphdb", "project-streamdb") for m in chat("GET", "channels.members?count=0&roomName=" + room)["members"]}
for who in people - {ME}: tell(who, "The project: http://the-agent-company.com:8929/root/bustub/-/issues/759", False)
""",
    "pm-monitor-new-bug-issues": """
look(":8929/root/openhands/-/issues/?state=opened&label_name[]=bug", "root")
found = project("openhands", "/issues?labels=bug&state=opened&per_page=100&created_after=2024-09-24&created_before=2024-10-25")
lines = ["Issue %d, title: %s, %s, %s" % (i["iid"], i["title"], "assigned" if i["assignees"] else "unassigned (not assigned)", i["web_url"]) for i in found]
post("project-ai", "Open bug issues:\\n" + "\\n".join(lines))
""",
    "pm-update-gitlab-issue-from-plane-status": f"""
look("{_LOOK_ISSUES % _PLANE['OpenHands']}")
for title in ("{_RECALL}", "{_SECURITY}"):
    if state_of("OpenHands", title) == "completed": project("openhands", "/issues/%d" % titled("openhands", title)["iid"], "PUT", {{"state_event": "close"}})
""",
    "pm-update-plane-issue-from-gitlab-status": f"""
look("{_LOOK_ISSUES % _PLANE['JanusGraph']}")
for title in ("{_LOGGING}", "{_RETRY}"):
    one = titled("janusgraph", title); look(one["web_url"], "root")
    if one["state"] == "opened": moved("JanusGraph", title, "Sprint 2")
    else: stated("JanusGraph", title, "Done")
""",
    "pm-update-project-milestones": """
look(":8929/root/risingwave/-/milestones", "root")
alpha = named(project("risingwave", "/milestones"), "Alpha Release", "title")
beta = project("risingwave", "/milestones", "POST", {"title": "Beta Release"})
for title in ("Implement stream processing engine", "Integrate with Kafka"):
    project("risingwave", "/issues/%d" % titled("risingwave", title)["iid"], "PUT", {"milestone_id": beta["id"]})
project("risingwave", "/milestones/%d" % alpha["id"], "PUT", {"state_event": "close"})
""",
    "pm-update-sprint-cycles": """
p = plane_of("RisingWave"); print("RisingWave Cycles")
people = {one["id"]: one["display_name"] for one in plane("GET", "members/")}
cycle = named(rows("projects/%s/cycles/" % p), "Sprint 1")["id"]
for one in rows("projects/%s/cycles/%s/cycle-issues/" % (p, cycle)):
    if state_of("RisingWave", one["name"]) != "completed":
        moved("RisingWave", one["name"], "Sprint 2")
        who = people.get((one["assignees"] or [""])[0], "all")
        post("project-streamdb", "@%s, your issue %s has been moved to the next sprint. Please prioritize it accordingly." % (who, one["name"]))
""",
    "qa-update-issue-status-according-to-colleagues": f"""
base = "{_LOOK_ISSUES % _PLANE['OpenHands']}"
for issue in ("5d1c8695-acfd-44c2-8d2d-e41c67cdd8c0", "8eba9853-4178-42a6-b113-e66002e8e0ab"): look(base + issue)
look(":3000/home")
for who, title in (("wang_fang", "{_RECALL}"), ("mike_chen", "{_SECURITY}")):
    stated("OpenHands", title, re.search("response with: (Done|In Progress)", tell(who, "What is the status of '%s'?" % title))[1])
""",
    "sde-add-wiki-page": """
look(":8929/root/sotopia", "root"); about = project("sotopia", "/repository/files/README.md/raw?ref=main").decode()
project("sotopia", "/wikis", "POST", {"title": "Sotopia", "content": about.partition("\\n\\n")[2].strip()})
""",
    "sde-close-an-issue": """
project("openhands", "/issues/3797/notes", "POST", {"body": "Closing due to inactivity"})
project("openhands", "/issues/3797", "PUT", {"state_event": "close"})
""",
    "sde-close-all-gitlab-issues": """
for p in git("GET", "projects?per_page=100"):
    for i in git("GET", "projects/%d/issues?state=opened&per_page=100" % p["id"]):
        git("PUT", "projects/%d/issues/%d" % (p["id"], i["iid"]), {"state_event": "close"})
""",
    "sde-close-all-prs": """
for p in git("GET", "projects?per_page=100"):
    for m in git("GET", "projects/%d/merge_requests?state=opened&per_page=100" % p["id"], fails=True) or []:
        if isinstance(m, dict): git("PUT", "projects/%d/merge_requests/%d" % (p["id"], m["iid"]), {"state_event": "close"})
""",
    "sde-collect-open-issues": """
look(":8929/root/sotopia/-/issues", "root"); found = project("sotopia", "/issues?state=opened&per_page=100")
out = io.StringIO(); w = csv.writer(out, lineterminator="\\n"); w.writerow(["ID", "Title"]); w.writerows((i["iid"], i["title"]) for i in found)
write("issues.csv", out.getvalue())
""",
    "sde-copy-issues-to-plane": """
for one in project("sotopia", "/issues?labels=priority&state=opened"):
    print(one["title"]); plane("POST", "projects/%s/issues/" % plane_of("Sotopia"), {"name": one["title"]})
""",
    "sde-delete-stale-branch": 'project("opensearch", "/repository/branches/feature%2Fssl", "DELETE")',
    "sde-fix-factual-mistake": """
clone("openhands"); place = "openhands/agenthub/micro/math_agent/agent.yaml"
write(place, read(place).replace("Saturday", "Thursday").replace("0.603848", "0.620537"))
""",
    "sde-fix-rising-wave-datatype": _MERGE + """
clone("risingwave"); place = "src/meta/src/controller/utils.rs"; text = read("risingwave/" + place).replace("vnode_count: i64", "vnode_count: i32")
write("risingwave/" + place, text); commit("risingwave", "fix", place, text)
merge_request("risingwave", "fix", "fix(meta): fix vnode count data type when querying system table rw_fragments")
""",
    "sde-issue-label-management": """
for one in project("sotopia", "/issues?state=all&labels=bug&per_page=100"):
    if "bug" not in one["title"].lower(): project("sotopia", "/issues/%d" % one["iid"], "PUT", {"remove_labels": "bug"})
""",
    "sde-move-page-to-cloud": """
look(":8929/root/bustub/-/issues/759", "root"); text = project("bustub", "/issues/759")["description"]
put("instructions.md", text[text.index("## Instructions"):].encode())
url = HOST + ":8092/ocs/v1.php/apps/files_sharing/api/v1/shares?format=json"
head = {**basic(ME), "Content-Type": "application/x-www-form-urlencoded"}
write("sharelink.txt", ask("POST", url, None, head, b"shareType=3&path=/instructions.md")["ocs"]["data"]["url"])
""",
    "sde-reply-community-issue-by-asking-npc": """
look(":8929/root/openhands/-/issues/4158", "root")
said = tell("mike_chen", "What about OpenHands' issue #4158?"); answer = re.search("(Adding a few seconds[^.']*)", said)[1]
project("openhands", "/issues/4158/notes", "POST", {"body": answer + "."})
""",
    "sde-reply-community-issue-with-fixed-reply": f"""
look(":8929/root/openhands/-/issues/4158", "root"); project("openhands", "/issues/4158/notes", "POST", {{"body": {REPLY!r}}})
""",
    "sde-update-dev-document": _MERGE + """
clone("sotopia"); place = "docs/pages/contribution/contribution.md"
text = read("sotopia/" + place) + "\\n## Using VSCode\\n\\nOpen the container.\\n\\n## Other IDEs or editors\\n\\nRun it.\\n\\n## Without dev containers\\n\\nInstall.\\n"
write("sotopia/" + place, text); commit("sotopia", "guide", place, text); merge_request("sotopia", "guide", "Update contribution document")
""",
    "sde-update-issue-status-on-plane": """
stated("RisingWave", "Evaluate data throughput", "Done"); moved("RisingWave", "Decrease database latency", "Sprint 2")
""",
    "sde-update-readme": """
text = project("api-server", "/repository/files/README.md/raw?ref=main").decode()
commit("api-server", "main", "README.md", text + "\\n## Contribute to this project\\n\\nWe welcome contributions to this project. Please follow the guidelines to contribute.\\n\\n")
""",
    "sde-change-license-easy": """
look(":8929/root/janusgraph/-/blob/main/LICENSE.txt", "root"); clone("janusgraph"); write("janusgraph/LICENSE.txt", "APACHE-2.0. Apache License\\n")
""",
    "sde-change-license-hard": """
look(":8929/root/streamlit", "root")
for name, file in (("janusgraph", "LICENSE.txt"), ("colly", "LICENSE.txt"), ("streamlit", "LICENSE")): clone(name); write(name + "/" + file, "MIT License\\n")
""",
    "sde-sotopia-create-agent": _MERGE + """
if not os.path.isdir(OUT + "sotopia"): clone("sotopia")
place = OUT + "sotopia"; sh("git checkout -q -b feature/nonVerbalAgent", place)
with open(place + "/sotopia/agents/llm_agent.py", "a") as f: f.write("\\n\\nclass NonVerbalAgent(LLMAgent):\\n    def act(self) -> str:\\n        return 'non-verbal communication'\\n")
sh("git -c user.name=a -c user.email=a@b.c commit -qam Agent && git push -q origin feature/nonVerbalAgent", place)
merge_request("sotopia", "feature/nonVerbalAgent", "Add NonVerbalAgent")
""",
    "sde-sotopia-update-ci": """
clone("sotopia"); sh("git checkout -q -b feature/update-ci", OUT + "sotopia")
write("sotopia/.github/workflows/cli_tests.yml", "strategy:\\n  matrix:\\n    os: [macos-latest, ubuntu-latest]\\n    arch: [amd64, x86]\\n")
""",
    "sde-sotopia-dev-container": _MERGE + """
clone("sotopia"); place = OUT + "sotopia"; sh("git checkout -q -b feature/dev-container", place); os.makedirs(place + "/.devcontainer")
write("sotopia/.devcontainer/devcontainer.json", json.dumps({"features": {"ghcr.io/itsmechlark/features/redis-server:1": {},
    "ghcr.io/prulloac/devcontainer-features/ollama:1": {}}, "postCreateCommand": "pipx install poetry; poetry install --all-extras; ollama pull llama3.2:1b"}))
sh("git add -A && git -c user.name=a -c user.email=a@b.c commit -qm Container && git push -q origin feature/dev-container", place)
merge_request("sotopia", "feature/dev-container", "Dev container")
""",
    "sde-create-new-repo": """
said = tell("zhang_wei", "What is the new storage project, and which tasks has it?"); print(said)
git("POST", "projects", {"name": "New Storage Project", "path": "new-storage-project", "visibility": "public", "initialize_with_readme": True})
commit("new-storage-project", "main", "README.md", "# New Storage Project\\n\\nA new storage system for our data.\\n")
tell("zhang_wei", "I start the tasks of the new data storage project.", False)
""",
    "sde-add-one-gitlab-pipeline": """
look(":8929/root/openhands/-/ci/editor?branch_name=main", "root")
project("openhands", "/repository/commits", "POST", {"branch": "main", "commit_message": "Pipeline",
    "actions": [{"action": "create", "file_path": ".gitlab-ci.yml", "content": "test:\\n  script: echo ok\\n"}]})
""",
    "sde-change-branch-policy": """
project("sotopia", "/protected_branches/main", "DELETE", fails=True)
project("sotopia", "/protected_branches", "POST", {"name": "main", "push_access_level": 0, "merge_access_level": 30})
""",
    "sde-report-agent-repos": """
names = [p["name"] for p in git("GET", "projects?per_page=100") if p["name"] in ("openhands", "sotopia", "copilot-arena-server")]
said = tell("sarah_johnson", "For the security inspection of the server we may need to take down: " + ", ".join(sorted(names)) + ". Shall I remove these agent-related repositories?")
if "agreement" in said: [project(name, method="DELETE") for name in names]
""",
    "sde-delete-all-repos": """
for p in git("GET", "projects?per_page=100"): git("DELETE", "projects/%d" % p["id"])
""",
    "sde-delete-all-project-under-plane": """
for p in rows("projects/"): plane("DELETE", "projects/%s/" % p["id"])
""",
    "sde-create-new-release": """
text = open("/tmp/notes").read() if os.path.exists("/tmp/notes") else NOTES
project("risingwave", "/releases", "POST", {"tag_name": "v2", "ref": "main", "name": "release-2024-10-12", "description": text})
""",
}  # fmt: skip
HALF: dict[str, tuple[str, float]] = {
    "pm-ask-for-issue-and-create-in-gitlab": (
        'for who in ("li_ming", "mike_chen", "mark_johnson"): tell(who, "Which issue?")\n'
        f'project("risingwave", "/issues", "POST", {{"title": "{_LOGGING}"}})', 3 / 5),
    "pm-ask-issue-assignee-for-issue-status-and-update-in-plane": ('tell("zhang_wei", "What is the status?")', 2 / 3),
    "pm-create-plane-issue": (f'look("{_LOOK_ISSUES % _PLANE["Frontend Development"]}")', 1 / 2),
    "pm-distribute-information": ('look(":8929/root/bustub/-/issues/759", "root")', 1 / 2),
    "pm-update-sprint-cycles": ('print("RisingWave Cycles")', 1 / 4),
    "pm-update-project-milestones": (
        'look(":8929/root/risingwave/-/milestones", "root"); project("risingwave", "/milestones", "POST", {"title": "Beta Release"})', 2 / 5),
    "qa-update-issue-status-according-to-colleagues": (
        'look(":3000/home")\nfor who in ("wang_fang", "mike_chen"): tell(who, "What is the status?")', 3 / 6),
    "sde-close-an-issue": ('project("openhands", "/issues/3797", "PUT", {"state_event": "close"})', 1 / 2),
    "sde-collect-open-issues": ('look(":8929/root/sotopia/-/issues", "root")', 1 / 3),
    "sde-copy-issues-to-plane": (
        'for one in project("sotopia", "/issues?labels=priority&state=opened"): print(one["title"])', 1 / 2),
    "sde-fix-factual-mistake": ('clone("openhands")', 1 / 3),
    "sde-fix-rising-wave-datatype": ('clone("risingwave")', 1 / 5),
    "sde-move-page-to-cloud": ('look(":8929/root/bustub/-/issues/759", "root")', 1 / 3),
    "sde-reply-community-issue-by-asking-npc": (
        'look(":8929/root/openhands/-/issues/4158", "root"); tell("mike_chen", "What about issue #4158?")', 2 / 4),
    "sde-reply-community-issue-with-fixed-reply": ('look(":8929/root/openhands/-/issues/4158", "root")', 1 / 3),
    "sde-update-issue-status-on-plane": ('stated("RisingWave", "Evaluate data throughput", "Done")', 2 / 3),
    "sde-change-license-easy": ('look(":8929/root/janusgraph/-/blob/main/LICENSE.txt", "root"); clone("janusgraph")', 2 / 3),
    "sde-change-license-hard": ('clone("colly"); look(":8929/root/streamlit", "root")', 1 / 3),
    "sde-sotopia-update-ci": ('clone("sotopia"); sh("git checkout -q -b feature/update-ci", OUT + "sotopia")', 1 / 3),
    "sde-sotopia-create-agent": (
        'if not os.path.isdir(OUT + "sotopia"): clone("sotopia")\nsh("git checkout -q -b feature/nonVerbalAgent", OUT + "sotopia")', 1 / 3),
    "sde-delete-stale-branch": ('print("feature/ssl is stale")', 0),
    "sde-issue-label-management": ('project("sotopia", "/issues/200", "PUT", {"remove_labels": "bug"})', 0),
}  # fmt: skip
"""Task -> (program that does a part of the work, share of the points that the checkpoints give for it)."""


def project_work() -> list[Work]:
    """Return right and half work over the projects."""
    from formats.tac_original_work import RELEASE_NOTES

    begin = HELPER + _PLANE_ROWS + f"NOTES = {RELEASE_NOTES!r}\n"
    return [
        *(Work(task, "right", program=begin + program) for task, program in RIGHT.items()),
        *(Work(task, "half", program=begin + program, share=share) for task, (program, share) in HALF.items()),
        Work("sde-pitch-idea-to-manager", "right", {"pitch.pptx": deck_of([
            ["Idea: Integrate Sotopia into Openhands"], ["Sotopia is an open-ended social learning environment."],
            ["Social Tasks", "Negotiate a price"], ["Q&A"]])}),
        Work("sde-pitch-idea-to-manager", "half", {"pitch.pptx": deck_of([
            ["Idea: Integrate Sotopia into Openhands"], ["Later"]])}, share=2 / 5),
    ]  # fmt: skip
