"""The program library of scripted agents that work at TheAgentCompany's originals through REST, WebDAV, git and pages."""

from __future__ import annotations

import io
from collections.abc import Sequence


def deck_of(slides: Sequence[Sequence[str]]) -> bytes:
    """Return a presentation with a slide of lines for each item."""
    from pptx import Presentation
    from pptx.util import Inches

    made, out = Presentation(), io.BytesIO()
    for lines in slides:
        slide = made.slides.add_slide(made.slide_layouts[6])
        slide.shapes.add_textbox(Inches(1), Inches(1), Inches(8), Inches(5)).text_frame.text = "\n".join(lines)
    made.save(out)
    return out.getvalue()


def workbook(rows: Sequence[Sequence[object]]) -> bytes:
    """Return a workbook with one sheet of these rows."""
    from openpyxl import Workbook

    made, out = Workbook(), io.BytesIO()
    for row in rows:
        made.active.append(list(row))
    made.save(out)
    return out.getvalue()


HELPER = r'''
import base64, csv, io, json, os, re, subprocess, sys, time, urllib.error, urllib.parse, urllib.request
ME, HOST, OUT = "theagentcompany", "http://the-agent-company.com", "/workspace/"

def basic(name): return {"Authorization": "Basic " + base64.b64encode((name + ":theagentcompany").encode()).decode()}

def ask(method, url, body=None, head=None, data=None, fails=False):
    data = json.dumps(body).encode() if body is not None else data
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json", **(head or {})}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=120) as answer:
            said = answer.read()
    except urllib.error.HTTPError as error:
        said = error.read()
        if not fails: raise SystemExit("%s %s: %d %s" % (method, url, error.code, said[:300]))
    try: return json.loads(said or b"null")
    except ValueError: return said

# Rocket.Chat
_seen = {}
def chat(method, name, body=None, fails=False):
    if not _seen:
        data = ask("POST", HOST + ":3000/api/v1/login", {"user": ME, "password": ME})["data"]
        _seen.update({"X-Auth-Token": data["authToken"], "X-User-Id": data["userId"]})
    return ask(method, HOST + ":3000/api/v1/" + name, body, _seen, fails=fails)

def tell(who, text, answered=True):
    """Send a direct message; return the colleague's answer."""
    room = chat("POST", "im.create", {"username": who})["room"]["_id"]
    before = len(chat("GET", "im.history?count=0&roomId=" + room)["messages"])
    chat("POST", "chat.postMessage", {"roomId": room, "text": text})
    for _ in range(120 if answered else 0):
        rows = chat("GET", "im.history?count=0&roomId=" + room)["messages"]
        if len(rows) >= before + 2: return rows[0]["msg"]
        time.sleep(0.5)
    return ""

def person(name): return chat("GET", "users.info?username=" + name)["user"]
def channel(name): return chat("GET", "channels.info?roomName=" + name)["channel"]["_id"]
def post(room, text): return chat("POST", "chat.postMessage", {"channel": "#" + room, "text": text})
def invite(room, *names):
    for name in names: chat("POST", "channels.invite", {"roomId": channel(room), "userId": person(name)["_id"]})

# Pages, ownCloud, GitLab, Plane
def look(url, name=ME): return ask("GET", url if "//" in url else HOST + url, None, basic(name), fails=True)
def cloud(place): return HOST + ":8092/remote.php/webdav/" + urllib.parse.quote(place)
def fetch(place): return ask("GET", cloud(place), None, basic(ME))
def put(place, data): return ask("PUT", cloud(place), None, {**basic(ME), "Content-Type": "application/octet-stream"}, data)
def git(method, path, body=None, fails=False): return ask(method, HOST + ":8929/api/v4/" + path, body, basic("root"), fails=fails)
def project(name, path="", method="GET", body=None, fails=False): return git(method, "projects/root%2F" + name + path, body, fails)
def plane(method, path, body=None): return ask(method, HOST + ":8091/api/v1/workspaces/tac/" + path, body, basic(ME))
def rows(path): return plane("GET", path)["results"]
def named(found, name, key="name"): return [one for one in found if one[key] == name][0]
def clone(name): sh("git clone -q http://root:theagentcompany@the-agent-company.com:8929/root/%s.git %s" % (name, OUT + name))
def sh(command, where=OUT):
    done = subprocess.run(command, shell=True, cwd=where, capture_output=True, text=True)
    print(done.stdout, done.stderr)
    return done
def write(name, text): open(OUT + name, "w").write(text)
def read(name): return open(OUT + name).read()
def commit(name, branch, path, text, start="main"):
    action = {"action": "update", "file_path": path, "content": text}
    body = {"branch": branch, "commit_message": "Work", "actions": [action]}
    if branch != start: body["start_branch"] = start
    project(name, "/repository/commits", "POST", body)
'''
