"""How the scripted agents work at Quaymark: through the services alone, as Jules."""

import base64
import json
import os
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

NAME, WORD = "jules", "tern-over-quay-62"
CHAT, TRACKER, FILES = "http://chat:3000", "http://tracker:8091", "http://files:8092"
SIGN = "Basic " + base64.b64encode(f"{NAME}:{WORD}".encode()).decode()


def ask(url, data=None, method=None, kind="application/json"):
    """The body of an answer. HTTPError for anything but success."""
    body = data if data is None or isinstance(data, bytes) else json.dumps(data).encode()
    request = urllib.request.Request(url, body, {"Authorization": SIGN, "Content-Type": kind}, method=method)
    with urllib.request.urlopen(request, timeout=90) as answer:
        return answer.read()


def load(url):
    return json.loads(ask(url))


# chat


def talk(place, text):
    """Say something; what was said there before."""
    before = load(f"{CHAT}/api/{place}")["messages"]
    ask(f"{CHAT}/api/{place}", {"text": text})
    return len(before) + 1


def answers(place, text, *who, seconds=90):
    """Say something, and wait until each of `who` has answered: their answers, by who."""
    after = talk(place, text)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        fresh = load(f"{CHAT}/api/{place}")["messages"][after:]
        found = {one["by"]: one["text"] for one in fresh if one["by"] in who}
        if len(found) == len(who):
            return found
        time.sleep(0.3)
    raise SystemExit(f"no answer from {who} to {text!r}")


def tell(person, text):
    """The answer to a direct message."""
    said = answers(f"direct/{person}", text, person)[person]
    print(f"{person}: {said}")
    return said


# tracker


def issues(project, **query):
    asked = urllib.parse.urlencode({"project_id": project, "status_id": "*", "limit": 100, **query})
    return load(f"{TRACKER}/issues.json?{asked}")["issues"]


def named(table, key):
    """{name: id} of statuses, priorities, people and the like."""
    if table == "people":
        found = [one["user"] for one in load(f"{TRACKER}/projects/{key}/memberships.json?limit=100")["memberships"]]
        return {one["name"]: one["id"] for one in found}
    if table == "sprints":
        return {one["name"]: one["id"] for one in load(f"{TRACKER}/projects/{key}/versions.json")["versions"]}
    path = {"statuses": "issue_statuses", "priorities": "enumerations/issue_priorities", "trackers": "trackers"}[table]
    return {one["name"]: one["id"] for one in load(f"{TRACKER}/{path}.json")[path.rpartition("/")[2]]}


def change(number, **fields):
    ask(f"{TRACKER}/issues/{number}.json", {"issue": fields}, "PUT")


def resolve(number, note):
    """By the way that the tracker allows."""
    statuses = named("statuses", "")
    change(number, status_id=statuses["In Progress"])
    change(number, status_id=statuses["Resolved"], notes=note)


def page(project, title):
    return load(f"{TRACKER}/projects/{project}/wiki/{urllib.parse.quote(title.replace(' ', '_'))}.json")["wiki_page"][
        "text"
    ]


# files, repositories, calendar


def fetch(name):
    return ask(f"{FILES}/{urllib.parse.quote(name)}")


def put(name, data, kind="text/plain"):
    """With the folders above it."""
    steps = name.split("/")[:-1]
    for count in range(1, len(steps) + 1):
        try:
            ask(f"{FILES}/{urllib.parse.quote('/'.join(steps[:count]))}/", None, "MKCOL")
        except urllib.error.HTTPError:
            pass  # it is there
    ask(f"{FILES}/{urllib.parse.quote(name)}", data if isinstance(data, bytes) else data.encode(), "PUT", kind)


def git(*words, cwd=None):
    env = {**os.environ, "HOME": os.getcwd()}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "Jules Park", f"GIT_{role}_EMAIL": "jules@workplace.invalid"}
    return subprocess.run(["git", *words], cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


def clone(name):
    git("clone", "-q", f"http://{NAME}:{WORD}@git:8929/{name}.git", name)


def push(name, message):
    git("add", "-A", cwd=name)
    git("commit", "-qm", message, cwd=name)
    git("push", "-q", "origin", "main", cwd=name)


def event(uid, title, begins, ends, invited=()):
    """Into one's own calendar; moments as 20260318T130000Z."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//jules//EN", "BEGIN:VEVENT", f"UID:{uid}"]
    lines += ["DTSTAMP:20260316T090000Z", f"DTSTART:{begins}", f"DTEND:{ends}", f"SUMMARY:{title}"]
    lines += [f"ATTENDEE:mailto:{who}@workplace.invalid" for who in invited]
    lines += ["END:VEVENT", "END:VCALENDAR", ""]
    url = f"http://calendar:5232/{NAME}/calendar/{uid}.ics"
    ask(url, "\r\n".join(lines).encode(), "PUT", "text/calendar")
