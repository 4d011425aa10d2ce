"""A task's tools over server-sent events, called by the real programs that support them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.test_real_programs import ABLE, asked, ran
from openai_server import Answer, serving
from openai_server.answers import Call, says
from worksample.records import Submission, Trial
from worksample.store import Store

SERVER = (Path(__file__).parent / "sse_server.py").read_text()
TASK = """
id = "notes"
title = "A note"
version = "1.0"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789ac"

[environment]
network = "endpoints"

[[environment.endpoint]]
name = "tools.example.com"
port = 8000
to = "service:desk"

[[environment.service]]
name = "desk"
argv = ["python3", "{files}/sse_server.py", "8000", "{state}"]
ports = [8000]
files = "desk"
software = ["python3"]

[[environment.mcp]]
name = "desk"
url = "http://tools.example.com:8000/sse"
sse = true

[grading.program]

[[instance]]
name = "one"
inputs = "inputs"
reference = "reference"
"""
GRADE = """from worksample.kit import Case, Grade, checklist


def grade(case: Case) -> Grade:
    note = case.folder("exports") / "desk" / "note"
    return checklist(case, kept=note.is_file() and note.read_text() == case.ref_text("note.txt"))
"""
BRIEF = "# Work description\n\nKeep milk.\n\n# Provided material\n\nNothing.\n\n# Deliverables\n\nA note at the desk.\n"
SEARCHES = ("ToolSearch", "tool_search")
SPEAK_SSE = ("claude-code", "gemini-cli", "opencode", "openhands")

# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.box,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-of-the-operator")


def answer(request: dict[str, Any], count: int) -> Answer:
    """Calls the desk's tool once it is offered, by whatever name; where tools have to be looked up, it does that first.

    What else a program wants to be told with each call, such as a summary, is told.
    """
    tools = {one["function"]["name"]: one["function"].get("parameters") or {} for one in request.get("tools", ())}
    told = str([message["content"] for message in request["messages"] if message["role"] == "tool"])
    keep = next((name for name in tools if name.endswith("keep")), "")
    search = next((name for name in SEARCHES if name in tools), "")
    if "kept milk" in told:
        return (
            Answer(text="Kept.", calls=(Call("finish", {"message": "Kept."}),)) if "finish" in tools else says("Kept.")
        )
    if keep:
        return Answer(text="I keep it.", calls=(Call(keep, filled(tools[keep], text="milk")),))
    if search and count < 4:
        return Answer(text="I look.", calls=(Call(search, filled(tools[search], query="select:mcp__desk__keep")),))
    return says("There is no desk.")


def filled(schema: dict[str, Any], **given: str) -> dict[str, Any]:
    """The arguments of a call, and something that fits for whatever else is required."""
    properties = schema.get("properties", {})
    kinds = {"boolean": False, "number": 5, "integer": 5, "array": [], "object": {}}
    rest = {
        name: (properties[name].get("enum") or [kinds.get(properties[name].get("type"), "keeps it")])[0]
        for name in schema.get("required", ())
    }
    return {**rest, **given}


def package(folder: Path) -> Path:
    root = folder / "notes"
    files = {"task.toml": TASK, "brief.md": BRIEF, "grade.py": GRADE, "inputs/word.txt": "word"}
    files |= {"reference/note.txt": "milk", "desk/sse_server.py": SERVER}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.long(seconds=20)
@pytest.mark.thorough(quick="experiments/test_real_programs.py::test_real_program_solves_a_starter_task")
@pytest.mark.parametrize("harness", SPEAK_SSE)
def test_real_program_calls_a_tool_over_server_sent_events(tmp_path: Path, harness: str) -> None:
    with serving(answer) as served, Store.open(tmp_path / "store", create=True) as store:
        more = {"suite": None, "only": (), "tasks": (str(package(tmp_path)),)}
        frame = ran(store, asked(tmp_path, [(harness, ABLE)], served.base_url, **more))
        (trial,) = store.find(Trial)
        offered = [[tool["function"]["name"] for tool in one.get("tools", ())] for one in served.requests]
        assert frame["passed"].to_list() == [True], (
            trial.outcome,
            offered,
            [m for m in served.requests[-1]["messages"] if m["role"] != "system"][-4:],
        )
        part = store.get(Submission, trial.id).parts["connections"]
        (lines,) = store.manifest(part.manifest).files
        assert b"tools.example.com:8000" in store.blobs.read(lines.blob or "")
        said = [m for request in served.requests for m in request["messages"] if m["role"] == "tool"]
        assert "kept milk" in str([message["content"] for message in said])
