"""A person plays a colleague in a trial, in the chat's page in a separate browser."""

from __future__ import annotations

import json
import shutil
import time
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.run_cli import cli_json, start
from running.needs import browser
from worksample.kit.workplace import Workplace
from worksample.records import GradePayload, Submission
from worksample.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.box,
    pytest.mark.browser,
    pytest.mark.workplace,
    pytest.mark.thorough(quick="workplace/colleagues/test_colleague_runner.py::test_messages_of_a_person_as_colleague_are_recorded"),
    pytest.mark.long(seconds=90),
]  # fmt: skip
EXAMPLE = Path(__file__).parents[3] / "examples/invoice-1043"
QUESTION, ANSWER = "By when does the school want the corrected invoice?", "By Thursday, honestly. <b>Rosa</b>"
AGENT = f"""
import base64, json, time, urllib.request
WORD = "Basic " + base64.b64encode(b"assistant:paddle-and-float-26").decode()
def ask(body=None):
    heads = {{"Authorization": WORD, "Content-Type": "application/json"}}
    asked = urllib.request.Request("http://chat:3000/api/direct/rosa", body, heads)
    return urllib.request.urlopen(asked, timeout=60).read()
ask(json.dumps({{"text": "{QUESTION}"}}).encode())
for _ in range(1200):
    said = [one["text"] for one in json.loads(ask())["messages"] if one["by"] == "rosa" and "Thursday" in one["text"]]
    if said:
        open("/task/output/answer.txt", "w").write(said[0])
        break
    time.sleep(0.5)
"""
LISTED = """async word => {
    const listed = await fetch("/api/direct/assistant", {headers: {Authorization: word}});
    return (await listed.json()).messages.map(one => one.text);
}"""
GRADE = """from worksample.kit import Case, Grade, checkpoints
from worksample.kit.workplace import Workplace


def grade(case: Case) -> Grade:
    talk = Workplace(case.folder("exports") / "workplace").direct("assistant", "rosa")
    told = [one.text for one in talk if one.by == "rosa"]
    return checkpoints(case, heard=case.text("answer.txt") in told)
"""


def package(folder: Path) -> Path:
    root = Path(shutil.copytree(EXAMPLE, folder / "invoice-1043"))
    rosa = root / "company/colleagues/rosa.toml"
    rosa.write_text('backing = "person"\n' + rosa.read_text())
    task = (
        (root / "task.toml")
        .read_text()
        .replace('services = ["chat", "tracker", "files", "git", "calendar"]', 'services = ["chat"]')
    )
    (root / "task.toml").write_text(
        task.replace('setup = "setup"\n', "") + '\n[deliverables]\n"answer.txt" = { format = "txt" }\n'
    )
    shutil.rmtree(root / "setup")
    (root / "grade.py").write_text(GRADE)
    (root / "criteria.toml").write_text('[[criterion]]\nid = "heard"\ntext = "The answer was heard."\npoints = 1\n')
    (folder / "script").mkdir()
    step = f"[[step]]\nraw = true\ntimeout = 900\nrun = '''\npython3 - <<'PY'{AGENT}\nPY\n'''\n"
    (folder / "script/invoice-1043.toml").write_text(step)
    return root


def trials() -> list[str]:
    """Workplaces of trials that people can enter."""
    return [one["name"] for one in cli_json("workplace", "status") if one["name"].startswith("trial-")]


def test_agents_message_is_answered_by_a_person(tmp_path: Path) -> None:
    before = set(trials())
    words = ("--store", tmp_path / "store", "--agent", "scripted", "--script", tmp_path / "script", "--tries", 1)
    running = start("run", "--task", package(tmp_path), *words, cwd=tmp_path)
    until = time.monotonic() + 300
    while not (fresh := set(trials()) - before) and time.monotonic() < until:
        time.sleep(0.5)
    [name] = fresh
    place = cli_json("workplace", "open", "chat", "--name", name, "--as", "rosa", "--no-open")
    _play(place)
    out, err = running.communicate()
    assert running.wait() == 0, out[-2000:] + err[-2000:]
    assert name not in trials()
    _kept(tmp_path / "store", tmp_path / "state")


def _play(place: dict[str, str]) -> None:
    """What a person does: log in, read the message that waits, answer it. The page shows an answer before it is sent,
    so the browser stays until the chat's own list has it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(browser()), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1200, "height": 800})
        page.set_default_timeout(120_000)
        page.goto(place["address"])
        page.get_by_label("XMPP Address").fill(place["account"])
        page.get_by_label("Password").fill(place["password"])
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("link", name="Alex Assistant").first.click()
        page.get_by_text(QUESTION).first.wait_for()
        box = page.get_by_placeholder("Message").last
        box.fill(ANSWER)
        box.press("Enter")
        _said(page, place)
        chromium.close()


def _said(page: Page, place: dict[str, str]) -> None:
    """Until the chat has the answer, by the account that gave it."""
    word = "Basic " + b64encode(f"{place['account']}:{place['password']}".encode()).decode()
    until = time.monotonic() + 120
    while time.monotonic() < until:
        said = page.evaluate(LISTED, word)
        if ANSWER in said:
            return
        page.wait_for_timeout(200)
    pytest.fail(f"the chat never had the answer: {said}")


def _kept(place: Path, folder: Path) -> None:
    with Store.open(place) as store:
        from worksample.records import Evaluation

        [submission], [given] = store.find(Submission), store.find(Evaluation)
        assert isinstance(given.payload, GradePayload) and given.payload.score == 1.0, given
        [entry] = store.manifest(submission.parts["colleagues"].manifest).files
        lines = [json.loads(line) for line in store.blobs.read(str(entry.blob)).splitlines()]
        assert [(one.get("heard"), one["said"], one["person"]) for one in lines] == [
            (QUESTION, "", True),
            (None, ANSWER, True),
        ]
        state = Workplace(store.folder(submission.parts["exports"].manifest) / "workplace")
        assert [(one.by, one.text) for one in state.direct("assistant", "rosa")][-2:] == [
            ("assistant", QUESTION), ("rosa", ANSWER),
        ]  # fmt: skip
