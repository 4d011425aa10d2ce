"""A small repository in TheAgentCompany's own layout, written for these tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

CONFIG = """
import os
SERVER_HOSTNAME = os.getenv("SERVER_HOSTNAME") or "the-agent-company.com"
CHAT = f"http://{SERVER_HOSTNAME}:{os.getenv('ROCKETCHAT_PORT') or '3000'}"
OWNCLOUD_URL = f"http://{SERVER_HOSTNAME}:{os.getenv('OWNCLOUD_PORT') or '8092'}"
GITLAB_ACCESS_TOKEN = "root-token"
GITLAB_USER = "root"
PLANE_API_KEY = os.environ.get("PLANE_API_KEY") or "plane-api-key"
"""
SCORING = """
class Checkpoint:
    def __init__(self, total, result):
        self.total, self.result = total, result

class Result:
    def __init__(self, checkpoints, strategy=None):
        self.checkpoints, self.strategy = checkpoints, strategy

    @property
    def final_score(self):
        total, result = sum(c.total for c in self.checkpoints), sum(c.result for c in self.checkpoints)
        return {"total": total, "result": self.strategy(self.checkpoints, result) if self.strategy else result}

def bonus_for_completing_final(checkpoints, result):
    last = checkpoints[-1]
    return sum(c.total for c in checkpoints) if last.result == last.total else result
"""
COMMON = '''
import functools, logging, litellm, requests
from rocketchat_API.rocketchat import RocketChat
from config import *

def grader(func):
    @functools.wraps(func)
    def wrapped(*args, **words):
        try:
            return func(*args, **words) or False
        except Exception as fault:
            logging.error(fault)
            return False
    return wrapped

def create_rocketchat_client(name="theagentcompany", password="theagentcompany"):
    return RocketChat(name, password, server_url=CHAT)

def personal_chat_history(rocket, name):
    for one in rocket.users_list().json()["users"]:
        if name.lower() in (one["username"].lower(), one["nameInsensitive"]):
            return [m["msg"] for m in rocket.im_history(room_id=one["_id"]).json()["messages"]][::-1]
    return []

def evaluate_with_llm(content, predicate):
    question = f\'Does the content """{content}""" indicate {predicate}? Please answer "yes" or "no".\'
    asked = [{"role": "user", "content": [{"type": "text", "text": question}]}]
    said = litellm.completion(api_key=None, base_url=None, model="m", messages=asked).json()
    return "yes" in said["choices"][0]["message"]["content"].lower()

def owncloud_file(path):
    answer = requests.get(f"{OWNCLOUD_URL}/remote.php/webdav/{path}", auth=("theagentcompany",) * 2)
    return answer.content if answer.status_code == 200 else None

def make_gitlab_request(path):
    head = {"PRIVATE-TOKEN": GITLAB_ACCESS_TOKEN}
    return requests.get(f"http://{SERVER_HOSTNAME}:8929/api/v4/{path}", headers=head)
'''
GREET = """
from scoring import Result, Checkpoint, bonus_for_completing_final
from common import *

rocket = create_rocketchat_client()

@grader
def visited(trajectory):
    return "http://the-agent-company.com:3000/home" in trajectory

@grader
def invited():
    inside = rocket.channels_members(channel="finance-talk").json()["members"]
    return any(one["username"] == "david_wong" for one in inside)

@grader
def asked():
    return evaluate_with_llm(str(personal_chat_history(rocket, "David Wong")), "that the budget was asked for")

@grader
def welcomed():
    room = rocket.channels_info(channel="finance-talk").json()["channel"]["_id"]
    said = rocket.channels_history(room_id=room).json()["messages"]
    return any(m["msg"] == "Welcome!" and m["u"]["username"] == "theagentcompany" for m in said)

def grade_checkpoints(trajectory=""):
    points = [Checkpoint(1, int(visited(trajectory))), Checkpoint(1, int(invited())), Checkpoint(2, 2 * int(asked()))]
    return Result([*points, Checkpoint(1, int(welcomed()))], bonus_for_completing_final)
"""
REPORT = """
from litellm import logging
from scoring import Result, Checkpoint
from common import grader, owncloud_file

@grader
def local():
    logging.info("looked at")
    return open("/workspace/total.txt").read().strip() == open("/utils/answer.txt").read().strip()

@grader
def stored():
    return b"42" in owncloud_file("Documents/Financials/total.txt")

def grade_checkpoints(trajectory=""):
    return Result([Checkpoint(1, int(local())), Checkpoint(1, int(stored()))])
"""
NOTES = """
from scoring import Result, Checkpoint
from common import *

rocket = create_rocketchat_client()

@grader
def reacted():
    return rocket.call_api_get("emoji-custom.list").json()["emojis"]

def grade_checkpoints(trajectory=""):
    return Result([Checkpoint(1, int(bool(reacted())))])
"""
ISSUE = """
from scoring import Result, Checkpoint
from common import *

PROJECT = "root/rates"

@grader
def closed():
    found = make_gitlab_request(f"projects/{PROJECT.replace('/', '%2F')}/issues?search=rate").json()
    return [issue["state"] for issue in found] == ["closed"]

def grade_checkpoints(trajectory=""):
    return Result([Checkpoint(1, int(closed()))])
"""
MOVE = """
from scoring import Result, Checkpoint
from common import *

rocket = create_rocketchat_client()

def inside(channel):
    return {one["username"] for one in rocket.channels_members(channel=channel).json()["members"]}

@grader
def left():
    return "li_ming" not in inside("project-graphdb")

@grader
def came():
    return "li_ming" in inside("project-ai")

def grade_checkpoints(trajectory=""):
    return Result([Checkpoint(1, int(left())), Checkpoint(1, int(came()))])
"""
Files = Mapping[str, str]
CHANNEL_MOVE: Mapping[str, Files] = {
    "hr-move": {
        "task.md": "Move Li Ming from #project-graphdb to #project-ai.\n",
        "dependencies.yml": "- rocketchat\n",
        "scenarios.json": json.dumps({"Li Ming": {"extra_info": "You like databases."}}),
        "evaluator.py": MOVE,
    },
}
"""A task that would count as done from the start if everybody were in every channel."""
TASKS: Mapping[str, Files] = {
    "pm-greet": {
        "task.md": "Make a channel #finance-talk, invite David Wong, ask him for the budget.\n",
        "checkpoints.md": "## Checkpoint 1 (1pt)\n\nOpened the page.\n",
        "dependencies.yml": "- rocketchat\n",
        "scenarios.json": json.dumps({"David Wong": {"extra_info": "The budget is 10.", "strategy_hint": "Be short."}}),
        "evaluator.py": GREET,
    },
    "finance-report": {
        "task.md": "Write the total to /workspace/total.txt and to Documents/Financials/total.txt on ownCloud.\n",
        "dependencies.yml": "- owncloud\n",
        "Dockerfile": "FROM base\nCOPY answer.txt /utils/answer.txt\nCOPY numbers.csv /workspace/numbers.csv\n",
        "answer.txt": "42\n",
        "numbers.csv": "n\n40\n2\n",
        "evaluator.py": REPORT,
    },
    "hr-emoji": {"task.md": "Add an emoji.\n", "dependencies.yml": "- rocketchat\n", "evaluator.py": NOTES},
    "sde-issue": {
        "task.md": "Close the issue.\n",
        "dependencies.yml": "- gitlab\n",
        "evaluator.py": ISSUE,
        "populate_data.py": "x = 1\n",
    },
}


def write_repository(folder: Path, tasks: Mapping[str, Files] = TASKS) -> Path:
    """Write the repository."""
    base = folder / "workspaces/base_image"
    base.mkdir(parents=True)
    for name, text in (("config.py", CONFIG), ("scoring.py", SCORING), ("common.py", COMMON)):
        (base / name).write_text(text)
    (folder / "workspaces/tasks").mkdir()
    for task, files in tasks.items():
        (folder / "workspaces/tasks" / task).mkdir()
        for name, text in files.items():
            (folder / "workspaces/tasks" / task / name).write_text(text)
    return folder
