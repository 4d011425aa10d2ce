"""Runs in an agent's box: adds, edits and deletes in every service of the example's company, another draw each time.

    python3 office_work.py NUMBER ACCOUNT:PASSWORD OPERATOR

What employees may not (delete issues, others' calendars) is done as the operator. Prints what was done, a line each.
"""

import base64
import json
import random
import re
import subprocess
import sys
import urllib.request

number, me, operator = int(sys.argv[1]), sys.argv[2], f"operator:{sys.argv[3]}"
draw = random.Random(number)
EVENT = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VEVENT\r\nUID:{}\r\nDTSTAMP:20260309T090000Z\r\n"
EVENT += "DTSTART:20260312T140000Z\r\nDTEND:20260312T143000Z\r\nSUMMARY:{}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
CHAT, TRACKER, FILES = "http://chat:3000/api", "http://tracker:8091", "http://files:8092"
CALENDAR, GIT = "http://calendar:5232", "http://git:8929"


def ask(method, url, body="", who=me, kind="application/json"):
    head = {"Content-Type": kind}
    if who == operator and url.startswith(TRACKER):
        head["X-Redmine-API-Key"] = operator.partition(":")[2]
    else:
        head["Authorization"] = "Basic " + base64.b64encode(who.encode()).decode()
    if method == "PROPFIND":
        head["Depth"] = "1"
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    asked = urllib.request.Request(url, data or None, head, method=method)
    with urllib.request.urlopen(asked, timeout=300) as answer:
        print(method, url, answer.status)
        return answer.read()


def chat():
    word = f"word-{number}"
    ask("POST", f"{CHAT}/rooms/general", {"text": word})
    ask("POST", f"{CHAT}/direct/rosa", {"text": word})
    ask("POST", f"{CHAT}/direct/assistant?as=rosa", {"text": word}, operator)
    ask("POST", f"{CHAT}/rooms", {"name": f"own-{number}", "closed": True, "members": ["rosa", "ines"]})
    ask("POST", f"{CHAT}/rooms/own-{number}/topic", {"topic": word})
    ask("POST", f"{CHAT}/rooms/own-{number}/members", {"remove": "ines"})


def tracker():
    found = json.loads(ask("GET", f"{TRACKER}/issues.json?status_id=*&limit=100", who=operator))["issues"]
    gone, changed = draw.sample([one["id"] for one in found], 2)
    ask("DELETE", f"{TRACKER}/issues/{gone}.json", who=operator)
    upload = json.loads(ask("POST", f"{TRACKER}/uploads.json?filename=a.txt", b"x" * number, operator,
                            "application/octet-stream"))["upload"]  # fmt: skip
    attached = {"token": upload["token"], "filename": "a.txt", "content_type": "text/plain"}
    ask("PUT", f"{TRACKER}/issues/{changed}.json",
        {"issue": {"subject": f"Changed {number}", "notes": "why", "uploads": [attached]}}, operator)  # fmt: skip
    ask("POST", f"{TRACKER}/issues.json", {"issue": {"project_id": "billing", "subject": f"New {number}"}})
    pages = json.loads(ask("GET", f"{TRACKER}/projects/billing/wiki/index.json"))["wiki_pages"]
    page = draw.choice([one["title"] for one in pages])
    ask("PUT", f"{TRACKER}/projects/billing/wiki/{page}.json", {"wiki_page": {"text": f"text {number}"}})
    ask("PUT", f"{TRACKER}/projects/billing/wiki/New_{number}.json", {"wiki_page": {"text": "new"}})
    ask("DELETE", f"{TRACKER}/projects/billing/wiki/{page}.json", who=operator)
    ask("GET", f"{TRACKER}/projects/billing/repository", who=operator)  # fetches changesets into the database


def files():
    there = ["boats/safety.md", "boats/stock.csv", "finance/payroll.csv", "people/handbook.md"]
    gone, changed, moved = draw.sample(there, 3)
    ask("DELETE", f"{FILES}/{gone}")
    ask("PUT", f"{FILES}/{changed}", f"changed {number}", kind="text/plain")
    asked = urllib.request.Request(f"{FILES}/{moved}", method="MOVE", headers={
        "Destination": f"{FILES}/moved-{number}.txt",
        "Authorization": "Basic " + base64.b64encode(me.encode()).decode(),
    })  # fmt: skip
    print("MOVE", urllib.request.urlopen(asked, timeout=300).status)
    ask("MKCOL", f"{FILES}/folder-{number}/")
    ask("PUT", f"{FILES}/folder-{number}/new.bin", bytes(range(256)), kind="application/octet-stream")


def git():
    script = f"""
    set -e; export HOME=$PWD; rm -rf billing
    git clone -q {GIT.replace("//", f"//{me}@")}/billing.git && cd billing
    git config user.name a; git config user.email a@b.c
    echo {number} > more; git rm -q README.md; echo '# {number}' >> total.py
    git add -A; git commit -qm 'work {number}'; git push -q origin main HEAD:refs/heads/other
    git tag t{number}; git push -q origin t{number}; git push -q origin :other
    git reset -q --hard HEAD~2; git push -qf origin main
    """
    subprocess.run(["bash", "-c", script], check=True)
    print("pushed")


def calendar():
    listed = ask("PROPFIND", f"{CALENDAR}/rosa/calendar/", who=operator).decode()
    events = sorted(re.findall(r"/rosa/calendar/([^<]+\.ics)", listed))
    ask("DELETE", f"{CALENDAR}/rosa/calendar/{events[0]}", who=operator)
    uid = events[-1].removesuffix(".ics")
    ask("PUT", f"{CALENDAR}/rosa/calendar/{uid}.ics", EVENT.format(uid, "Moved"), operator, "text/calendar")
    ask("PUT", f"{CALENDAR}/assistant/calendar/n{number}.ics", EVENT.format(f"n{number}", "New"), kind="text/calendar")
    sync = '<sync-collection xmlns="DAV:"><sync-token/><prop><getetag/></prop></sync-collection>'
    ask("REPORT", f"{CALENDAR}/rosa/calendar/", sync, operator, "application/xml")


for service in (chat, tracker, files, git, calendar):
    service()
