# ruff: noqa: E501
"""An issue for Jules, written on the morning that the work begins."""

import json
import os
import urllib.request

URL, KEY = "http://127.0.0.1:8091", os.environ["WORKPLACE_OPERATOR"]
AUTHOR, PROJECT, SUBJECT = "yusuf", "dispatch", "Demo of the temperature board"
TEXT = "Nordvik wants to see the board. Friday, 20 March, at 10:00, one hour, with Petra, Oskar and Aiko. Ask Oskar which set of figures is ready for a demo, and Aiko for a picture of the board in product/demo. Write date and set into DEMO.md of the repository insights."


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
