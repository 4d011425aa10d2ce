"""Whole trials of agents with a browser, from a package to a grade: model tools, MCP, a script, a company."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import start
from openai_server import serving
from sandboxes.browser.scripted_browser_model import Step, Working, step
from worksample.agents.installing.installer import install
from worksample.records import Evaluation, GradePayload, Submission, Trial
from worksample.store import Store, check

pytestmark = [pytest.mark.box, pytest.mark.browser]
MODEL = "openai-api/local/model-1"
ROOT = Path(__file__).parents[3]
TASK = """
id = "form"
title = "A form"
version = "1.0"
canary = "worksample-canary-0c0ffee0-4321-4abc-8def-0123456789ac"

[environment]
interfaces = ["terminal", "browser"]

[deliverables]
"count.txt" = { format = "txt" }

[grading.program]

[[instance]]
name = "one"
inputs = "inputs"
reference = "reference"
"""
GRADE = """from worksample.kit import Case, Check, Grade, checklist

PAGE = "file:///task/scratch/form.html"


def grade(case: Case) -> Grade:
    seen = case.browsed()
    pressed = [act for act in seen.acts if act.action == "click" and act.element.startswith("button 'Send'")]
    return checklist(
        case,
        visited=bool(seen.visited(PAGE)),
        pressed=Check.of(bool(pressed) and pressed[0].title == "Sent: Ada, warm", f"{seen.acts}"[-600:]),
        pictured=all(act.screen for act in seen.acts if act.action != "send_msg"),
        said=seen.messages == ["The form is sent."],
        counted=case.text("count.txt").strip() == case.ref_text("count.txt").strip(),
    )
"""
BRIEF = "# Work description\n\nSend it.\n\n# Provided material\n\nNothing.\n\n# Deliverables\n\n`count.txt`.\n"
FORM = (
    "<title>Form</title><label for=n>Name</label><input id=n>"
    "<label for=t>Tone</label><select id=t><option>dry<option>warm</select>"
    "<button onclick=\"document.title='Sent: ' + n.value + ', ' + t.value\">Send</button>"
)
WRITE = f"cat > /task/scratch/form.html <<'E'\n{FORM}\nE"
COUNT = "from pathlib import Path\nPath('/task/output/count.txt').write_text(str(6 * 7))"
IN_PAGE = [
    step("browser_goto", url="file:///task/scratch/form.html"),
    step("browser_fill", bid="textbox 'Name'", value="Ada"),
    step("browser_select_option", bid="combobox 'Tone'", options=["warm"]),
    step("browser_click", bid="button 'Send'", modifiers=["Shift"]),
    step("browser_send_msg", text="The form is sent."),
]


def package(folder: Path) -> Path:
    files = {"task.toml": TASK, "brief.md": BRIEF, "grade.py": GRADE, "inputs/word.txt": "word"}
    files |= {"reference/count.txt": "42\n"}
    for path, text in files.items():
        (folder / "form" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "form" / path).write_text(text)
    return folder / "form"


def run(folder: Path, task: Path, *words: object) -> tuple[GradePayload, Submission]:
    """By `worksample run`; the only grade, and what was handed in."""
    key = {"LOCAL_API_KEY": "none"}
    running = start("run", "--task", task, "--store", folder / "store", "--tries", 1, *words, cwd=folder, env=key)
    out, err = running.communicate(1500)
    assert running.wait() == 0, out[-2000:] + err[-3000:]
    with Store.open(folder / "store") as store:
        [trial], [submission], [given] = store.find(Trial), store.find(Submission), store.find(Evaluation)
        assert isinstance(given.payload, GradePayload), (given, trial.outcome)
        assert not check(store, deep=True)
        return given.payload, submission


def by_model(
    folder: Path, task: Path, harness: str, steps: list[Step], **more: Any
) -> tuple[GradePayload, Submission, Working]:
    working = Working(steps, **more)
    with serving(working) as service:
        words = ("--agent", harness, "--model", MODEL, "--base-url", service.base_url)
        return *run(folder, task, *words), working


def failed(grade: GradePayload) -> list[tuple[str, str]]:
    return [(part.name, part.reason) for part in grade.leaves if not part.passed]


def scripted(folder: Path) -> Path:
    """The folder of a script that does it."""
    folder.mkdir()
    words = f"[[step]]\nraw = true\nrun = '''\n{WRITE}\n'''\n"
    for one in IN_PAGE:
        given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in one.given.items())
        words += f'[[step]]\nbrowse = "{one.tool.removeprefix("browser_")}"\nargs = {{ {given} }}\n'
        words += '[[step]]\nbrowse = "noop"\nargs = { wait_ms = 50 }\nuntil = "Form - "\n' if "url" in given else ""
    words += f"[[step]]\npython = '''\n{COUNT}\n'''\n"
    (folder / "form.toml").write_text(words)
    return folder


def test_model_has_browser_shell_and_python_tools(tmp_path: Path) -> None:
    steps = [step("bash", command=WRITE), *IN_PAGE, step("python", code=COUNT), step("submit")]
    grade, submission, working = by_model(tmp_path, package(tmp_path), "worker", steps)
    assert failed(grade) == [], working.seen
    assert "textbox 'Name'" in working.seen[1] and "Sent: Ada, warm - " in working.seen[4]
    assert submission.parts["browser"].files == 6  # actions, navigation, four screens


@pytest.mark.thorough(quick="sandboxes/browser/test_browser_trials.py::test_model_has_browser_shell_and_python_tools")
@pytest.mark.long(seconds=30)
def test_scripted_agent_uses_the_browser(tmp_path: Path) -> None:
    grade, _ = run(tmp_path, package(tmp_path), "--agent", "scripted", "--script", scripted(tmp_path / "script"))
    assert failed(grade) == []


@pytest.mark.thorough(quick="sandboxes/browser/test_browser_trials.py::test_model_has_browser_shell_and_python_tools")
@pytest.mark.long(seconds=60)
def test_command_line_agent_uses_the_browser_by_mcp(tmp_path: Path) -> None:
    """The real program finds the browser in its configuration, asks for its tools and calls them."""
    install("codex")
    both = f'{WRITE}\npython3 -c "{COUNT.replace(chr(10), "; ")}"'
    steps = [step("exec_command", cmd=both), *IN_PAGE]
    grade, _, working = by_model(tmp_path, package(tmp_path), "codex", steps, prefix="mcp__browser__")
    assert failed(grade) == [], working.seen


OFFICE_GRADE = """from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.workplace import Workplace


def grade(case: Case) -> Grade:
    office, seen = Workplace(case.folder("exports") / "workplace"), case.browsed()
    talk = office.direct("assistant", "rosa")
    asked = [one for one in talk if one.by == "assistant" and "corrected invoice" in one.text]
    answers = [one for one in talk if one.by == "rosa" and "11 March" in one.text]
    [issue] = [one for one in office.issues("billing") if one.subject.startswith("INV-1043")]
    notes = [note for note in issue.notes if note.by == "assistant" and "11 March" in note.text]
    return checkpoints(
        case,
        asked=Check.of(bool(asked and answers and asked[0].at <= answers[0].at), f"{talk}"[-300:]),
        noted=Check.of(bool(notes), f"{issue.notes}"[-300:]),
        browsed=bool(seen.visited("http://tracker:8091/issues/*") and seen.visited("http://chat:3000/*")),
        lines=case.text("lines.txt").strip() == "4",
    )
"""
CRITERIA = "".join(
    f'[[criterion]]\nid = "{one}"\ntext = "{one}"\npoints = 1\n\n' for one in ("asked", "noted", "browsed", "lines")
)
WORD = "paddle-and-float-26"
NOTE = (
    f"curl -sf -u assistant:{WORD} -X PUT -H 'Content-Type: application/json' "
    """-d '{"issue": {"notes": "They want it by 11 March."}}' http://tracker:8091/issues/3.json"""
)
OFFICE = [
    step("browser_goto", url="http://chat:3000/"),
    step("browser_noop", until="textbox 'Password", wait_ms=1000),
    step("browser_fill", bid="textbox 'XMPP Address", value="assistant"),
    step("browser_fill", bid="textbox 'Password", value=WORD),
    step("browser_click", bid="button 'Log in'"),
    step("browser_noop", until="Rosa Lindqvist", wait_ms=1000),
    step("browser_click", bid="link 'Rosa Lindqvist"),
    step("browser_noop", until="textbox 'Message", wait_ms=1000),
    step("browser_fill", bid="textbox 'Message", value="By when does the school want the corrected invoice?"),
    step("browser_press", bid="textbox 'Message", keys="Enter"),
    step("browser_noop", until="11 March", wait_ms=1000),
    step("browser_goto", url="http://tracker:8091/login?back_url=/projects/billing/issues"),
    step("browser_fill", bid="textbox 'Login'", value="assistant"),
    step("browser_fill", bid="textbox 'Password'", value=WORD),
    step("browser_click", bid="button 'Login'"),
    step("browser_goto", url="http://tracker:8091/projects/billing/issues?set_filter=1&status_id=*"),
    step("browser_click", bid="link 'INV-1043"),
    step("browser_noop", until="wrong tax", wait_ms=1000),
    step("bash", command=NOTE),
    step("bash", command=f"curl -sf -u assistant:{WORD} -o /task/scratch/i.csv http://files:8092/finance/invoices-2026.csv"),
    step(
        "python",
        code="rows = [r for r in open('/task/scratch/i.csv') if r.startswith('INV-1043')]\n"
        "open('/task/output/lines.txt', 'w').write(str(len(rows)))",
    ),
    step("submit"),
]  # fmt: skip


@pytest.mark.workplace
@pytest.mark.thorough(quick="sandboxes/browser/test_browser_trials.py::test_model_has_browser_shell_and_python_tools")
@pytest.mark.long(seconds=120)
def test_model_works_on_company_pages(tmp_path: Path) -> None:
    """It asks a colleague in the chat's page, writes the answer into an issue, and counts lines of a file."""
    root = Path(shutil.copytree(ROOT / "examples/invoice-1043", tmp_path / "invoice-1043"))
    task = (
        (root / "task.toml")
        .read_text()
        .replace("[environment]\n", '[environment]\ninterfaces = ["terminal", "browser"]\n')
    )
    (root / "task.toml").write_text(task + '\n[deliverables]\n"lines.txt" = { format = "txt" }\n')
    (root / "grade.py").write_text(OFFICE_GRADE)
    (root / "criteria.toml").write_text(CRITERIA)
    grade, submission, working = by_model(tmp_path, root, "worker", OFFICE)
    assert failed(grade) == [], working.seen[-3:]
    assert {"browser", "colleagues", "exports", "connections"} <= set(submission.parts)
