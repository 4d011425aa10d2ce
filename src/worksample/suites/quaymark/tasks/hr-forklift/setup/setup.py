# ruff: noqa: E501
"""An issue for Jules, written on the morning that the work begins."""

import json
import os
import urllib.request

URL, KEY = "http://127.0.0.1:8091", os.environ["WORKPLACE_OPERATOR"]
AUTHOR, PROJECT, SUBJECT = "nadia", "office", "A course for the forklifts"
TEXT = "Licences end. Please see who needs the course, and find a time with Bram. Ask me about the list, it is not up to date."


def ask(path, body=None, who=""):
    """Return the JSON answer of the tracker."""
    head = {"Content-Type": "application/json", "X-Redmine-API-Key": KEY}
    head |= {"X-Redmine-Switch-User": who} if who else {}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, head)) as answer:
        return json.loads(answer.read() or b"null")


me = next(one for one in ask("/users.json?limit=100")["users"] if one["login"] == "jules")["id"]
issue = {"project_id": PROJECT, "subject": SUBJECT, "description": TEXT, "assigned_to_id": me, "tracker_id": 3}
ask("/issues.json", {"issue": issue}, AUTHOR)
