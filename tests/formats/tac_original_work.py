"""Scripted work at tasks of TheAgentCompany's own repository, with models on the loopback as colleagues and judge.

Right work and half of it is in `tac_original_chat_work` (contents of the public copy) and `tac_original_project_work`
(projects written from brief and reference, which are not the original's data).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from formats.tac_original_chat_work import chat_work
from formats.tac_original_project_work import project_work, stand_ins
from formats.tac_port_runs import answer_request
from formats.tac_port_work import Work
from openai_server import Answer, judged, read, says

RELEASE_NOTES = """sql feature
Query syntax:
Public preview: Supports AS CHANGELOG to convert any stream into an append-only changelog.
SQL commands:
Breaking change: DECLARE cursor_name SUBSCRIPTION CURSOR is the same as DECLARE cursor_name SUBSCRIPTION CURSOR since now(), which will be consumed from the current time. DECLARE cursor_name SUBSCRIPTION CURSOR FULL will start consuming data from stock. The type of operation has changed to varchar. It is one of Insert, Delete, UpdateInset, or UpdateDelete."""


def write_stand_ins(folder: Path) -> Path:
    """Write the projects that were written from briefs into a folder."""
    for name, text in stand_ins().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def right_work() -> list[Work]:
    """Return the right work at each task."""
    return [work for work in (*chat_work(), *project_work()) if work.name == "right"]


def half_work() -> list[Work]:
    """Return work that does a part of each task."""
    return [work for work in (*chat_work(), *project_work()) if work.name == "half"]


def no_work(task: str) -> Work:
    """Return an agent's work that does nothing."""
    return Work(task, "nothing")


JUDGED = (
    ("average job performance", r"average"),
    ("available interviewer list", r"interviewer"),
    ("agrees to interview", r"accept the interview|agree"),
    ("available for a technical interview", r"technical interview"),
    ("works in the AI team", r"AI team"),
    ("No meeting scheduled", r"No meeting scheduled this week"),
    ("scheduled on Friday", r"Friday"),
    ("kickoff meeting", r"kickoff meeting for the main Q4"),
    ("same project instruction", r"Setting Up Your Development Environment[\s\S]*Testing"),
    ("introduction to Sotopia", r"open-ended social learning"),
    ("timeout limit", r"timeout limit"),
    ("Redis and Ollama", r"redis-server[\s\S]*ollama"),
    ("Poetry and sotopia installed", r"poetry install"),
    ("amd and x86", r"amd64[\s\S]*x86"),
    ("new storage system project", r"storage system"),
    ("data storage related project", r"storage project"),
    ("server is required for inspection", r"inspection[\s\S]*copilot-arena-server, openhands, sotopia"),
    ("contributing to the project", r"We welcome contributions"),
    ("wiki page to a gitlab project", r"Agents who talk"),
)
"""Part of a judge's question -> pattern that the examined text must contain."""


def answer_as_company(request: dict[str, Any], count: int) -> Answer:
    """Answer as a colleague who says all that the colleague knows, or as a judge who searches the text for a pattern."""
    if "colleague" in request["model"]:
        words = "\n".join(_text(one) for one in request["messages"] if one["role"] in ("system", "developer"))
        return says(words[-6000:])
    seen = read(request)
    lines = [line.removeprefix("| ") for line in "\n".join(seen.exhibits).splitlines()]
    for about, pattern in JUDGED:
        if about in seen.words:
            found = re.search(pattern, "\n".join(lines))
            quote = next((line for line in lines if found and found[0].splitlines()[0] in line), "")
            return judged("yes", quote.strip()[:200]) if found else judged("no", "", None)
    return answer_request(request, count)


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
