"""A package of each kind of grading, from `task new` with a judge on loopback and people in Chromium to the report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.round.driving import PATIENCE, Watch, chromium
from app.round.test_people_graded_package import reviewing
from app.web.bench import dialog, front, saved, until
from cli.run_cli import argv_of, clean_environment, cli, cli_json
from openai_server import Answer, judged, read, serving
from openai_server.judge import Seen
from worksample.records import Evaluation, Evaluator, EvaluatorKind, Experiment, Purpose, Round, Trial
from worksample.results.result_set import ResultSet
from worksample.store import Store, check

STORE = ("--store", "s")
HEARD = 600
"""Seconds within which a command that was just started asks the model, on a machine that is busy with other things."""
STUDY = """
name = "walk"
tasks = ["{protocol}"]
agents = [{{ harness = "scripted", name = "good", script = "{protocol}/scripts/good" }}]
people = {{ pay = 45.0 }}
"""
JUDGE = """
[judges.judge]
model = "openai-api/local/judge-1"
cost = 5.0

[services."openai-api/local"]
base_url = "{url}"
retries = 0

[prices."openai-api/local/judge-1"]
input = 1.0
output = 10.0
"""
LATE = """[[step]]
run = "test {instance} = march || sleep 5"

[[step]]
submit ="""
MORE = """
[[criterion]]
id = "polite"
text = "The summary names the month in a whole sentence."
points = 1
by = "judge"

[[criterion]]
id = "usable"
text = "A bookkeeper can copy the table into the books as it is."
points = 1
by = "person"
"""
MARKS = {"rubric": 3, "program": 1}
"""Number of criteria that a person decides, by protocol."""
EXPECTED = {
    "holistic": [("april", True), ("march", True)],
    "rubric": [("april", False), ("march", True)],
    "program": [("april", False), ("march", True)],
}
"""The judge is against April; under votes on the whole that moves nothing, since people vote."""


@dataclass
class Model:
    """A judge that passes March's work alone, and keeps silent where `silent` says so until it goes on."""

    silent: str = "nothing"
    reached: threading.Event = field(default_factory=threading.Event)
    on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, request: dict[str, Any], count: int) -> Answer:
        seen = read(request)
        if self.silent == "everything" or (self.silent == "april" and _april(seen)):
            self.reached.set()
            self.on.wait(HEARD)
        place = next(n for n, text in enumerate(seen.exhibits, 1) if "including VAT" in text)
        if "Which statement describes the delivered work" in seen.words:
            return judged("1" if _april(seen) else "2", "including VAT", place)
        return judged("no", "", None) if _april(seen) else judged("yes", "including VAT", place)


def _april(seen: Seen) -> bool:
    return any("invoices of April" in text for text in seen.exhibits)


@dataclass
class Walk:
    """The author's folder, a step at a time."""

    folder: Path
    protocol: str
    model: Model
    url: str

    def write(self, *, judge: bool) -> None:
        """The experiment's file."""
        text = STUDY.format(protocol=self.protocol) + (JUDGE.format(url=self.url) if judge else "")
        (self.folder / "study.toml").write_text(text)

    def package(self) -> None:
        """Made by `task new`, with a criterion or two given to the judge."""
        cli_json("task", "new", self.protocol, "--protocol", self.protocol, cwd=self.folder)
        root = self.folder / self.protocol
        script = root / "scripts" / "good" / f"{self.protocol}.toml"
        script.write_text(script.read_text().replace("[[step]]\nsubmit =", LATE))
        assert "sleep 5" in script.read_text()
        criteria = root / "criteria.toml"
        if self.protocol == "rubric":
            # The last two.
            first, second, third = criteria.read_text().rsplit('by = "person"', 2)
            criteria.write_text(f'{first}by = "judge"{second}by = "judge"{third}')
        elif self.protocol == "program":
            criteria.write_text(criteria.read_text() + MORE)
        manifest = (root / "task.toml").read_text()
        assert [line.split("]")[0] for line in manifest.splitlines() if line.startswith("[grading")] == [
            f"[grading.{self.protocol}"
        ]
        [report] = cli_json("task", "check", self.protocol, cwd=self.folder)
        assert report["findings"] == []

    def run(self) -> dict[str, Any]:
        told: dict[str, Any] = cli_json("run", "study.toml", *STORE, cwd=self.folder)
        return told

    @contextmanager
    def killed(self, *words: object) -> Iterator[None]:
        """A command that is killed with all that it started, at the block's end."""
        argv, told = argv_of(*words, *STORE), self.folder / "told.txt"
        with told.open("w") as out, subprocess.Popen(
            argv, cwd=self.folder, env=clean_environment(LOCAL_API_KEY="none"), stdout=out, stderr=out,
            start_new_session=True,
        ) as running:  # fmt: skip
            try:
                yield
                assert running.poll() is None, told.read_text()[-3000:]
            finally:
                os.killpg(running.pid, signal.SIGKILL)
                self.model.on.set()
        self.model.silent, self.model.on = "nothing", threading.Event()
        self.model.reached.clear()
        self.sound()

    @contextmanager
    def store(self) -> Iterator[Store]:
        with Store.open(self.folder / "s") as opened:
            opened.sync()
            yield opened

    def sound(self) -> None:
        with self.store() as store:
            assert [str(fault) for fault in check(store, deep=True)] == []

    def said(self, kind: EvaluatorKind) -> int:
        """How many evaluations a kind has given."""
        if not (self.folder / "s" / "store.toml").exists():
            return 0
        with self.store() as store:
            who = {e.id for e in store.find(Evaluator) if e.type is kind}
            return sum(e.evaluator in who for e in store.find(Evaluation))

    def closed(self) -> int:
        if not (self.folder / "s" / "store.toml").exists():
            return 0
        with self.store() as store:
            return len(store.find(Trial))

    def verdicts(self) -> list[tuple[str, bool | None]]:
        with self.store() as store:
            [experiment] = store.find(Experiment)
            frame = ResultSet(store, [experiment]).frame(experiment.lock.protocol).sort("instance_name")
            return frame.select("instance_name", "passed").rows()

    def sit(self, browser: Browser, watch: Watch, link: str, *, notes: bool = True) -> Page:
        """A fresh browser at the first item that is given out. notes: they open, as nobody has begun with it."""
        context = browser.new_context(locale="en-GB")
        context.set_default_timeout(PATIENCE)
        watch.on(context)
        page = context.new_page()
        page.goto(link)
        if notes:
            dialog(page, "Notes on this item").wait_for()
            page.keyboard.press("Escape")
        front(page).locator("[data-tree] [role=treeitem]").first.wait_for()
        return page

    def begin(self, page: Page) -> None:
        """Some of an answer, as it is kept by the server."""
        if self.protocol == "holistic":
            page.keyboard.press("2")
        else:
            page.keyboard.press("1")
            expect(front(page).get_by_text(f"1 of {MARKS[self.protocol]} marked")).to_be_visible()
        saved(page)

    def finish(self, page: Page, begun: int = 0) -> None:
        """The rest of an answer, handed in."""
        if self.protocol == "holistic":
            if not begun:
                page.keyboard.press("2")
            page.keyboard.press("w")
            page.keyboard.type("totals.csv is right to the cent")
            page.keyboard.press("Escape")
        else:
            for n in range(begun, MARKS[self.protocol]):
                if n == begun > 0:
                    page.keyboard.press("j")
                page.keyboard.press("1")
                expect(front(page).get_by_text(f"{n + 1} of {MARKS[self.protocol]} marked")).to_be_visible()
        page.keyboard.press("Control+Enter")


@contextmanager
def sitting(walk: Walk, *, killed: bool) -> Iterator[dict[str, Any]]:
    """`worksample review`; killed at the end, or stopped as one does."""
    if not killed:
        with reviewing(walk.folder, "walk", "--alone") as said:
            yield said
        return
    command = argv_of("review", "--experiment", "walk", "--port", "0", "--alone", *STORE, "--json")
    with subprocess.Popen(
        command, cwd=walk.folder, env=clean_environment(), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        try:
            assert running.stdout is not None
            text = ""
            for line in running.stdout:
                text += line
                if line.startswith("}"):
                    break
            yield json.loads(text)
        finally:
            os.killpg(running.pid, signal.SIGKILL)
    walk.sound()


def judge_stage(walk: Walk) -> None:
    """From the plan to verdicts that wait for people alone, killed four times on the way."""
    needs_one = walk.protocol != "holistic"
    walk.write(judge=not needs_one)
    walk.model.silent = "everything"
    with walk.killed("run", "study.toml"):
        until(walk.closed)
    walk.model.silent = "everything"
    if needs_one:
        told = walk.run()
        # It waits for both; what is told is the first that it lacks.
        assert (told["finished"], told["graded"]) == (2, 0)
        assert told["waits_for_people"] + told["waits_for_judge"] == 2
        walk.write(judge=True)
    with walk.killed("run", "study.toml"):
        assert walk.model.reached.wait(HEARD)
        until(lambda: walk.closed() == 2)
    assert walk.said(EvaluatorKind.JUDGE) == 0
    walk.model.silent = "april"
    with walk.killed("run", "study.toml"):
        assert walk.model.reached.wait(HEARD)
        until(lambda: walk.said(EvaluatorKind.JUDGE) == 1)
    assert walk.said(EvaluatorKind.JUDGE) == 1
    told = walk.run()
    assert (told["waits_for_people"], told["waits_for_judge"], told["open"]) == (2, 0, 0)
    assert walk.said(EvaluatorKind.JUDGE) == 2
    assert walk.verdicts() == [("april", None), ("march", None)]


def people_stage(walk: Walk, browser: Browser) -> None:
    """Two items by one person: the server is killed in the first one, and again after it was handed in."""
    watch = Watch("ws.localhost", expected=("net::ERR_",))
    with sitting(walk, killed=True) as said:
        assert (said["left"], said["votes"]) == (2, 1)
        walk.begin(walk.sit(browser, watch, said["link"]))
    assert walk.said(EvaluatorKind.PERSON) == 0
    with sitting(walk, killed=True) as said:
        assert said["left"] == 2
        page = walk.sit(browser, watch, said["link"], notes=False)
        if walk.protocol != "holistic":
            expect(front(page).get_by_text(f"1 of {MARKS[walk.protocol]} marked")).to_be_visible()
        walk.finish(page, begun=1)
        until(lambda: walk.said(EvaluatorKind.PERSON) == 1, page=page)
    half = walk.verdicts()
    assert sorted(passed is None for _, passed in half) == [False, True]
    with walk.killed("resume", "walk"):
        pass
    assert walk.verdicts() == half
    with sitting(walk, killed=False) as said:
        assert said["left"] == 1
        page = walk.sit(browser, watch, said["link"])
        walk.finish(page)
        page.get_by_text("Nothing is left here for you.").wait_for()
    watch.check()


def report_stage(walk: Walk) -> None:
    """Once more over all of it; then what stands is what was said, each thing once."""
    assert walk.verdicts() == EXPECTED[walk.protocol]
    with walk.killed("resume", "walk"):
        pass
    assert walk.verdicts() == EXPECTED[walk.protocol]
    assert cli("resume", "walk", *STORE, cwd=walk.folder).returncode == 0
    assert (walk.said(EvaluatorKind.JUDGE), walk.said(EvaluatorKind.PERSON)) == (2, 2)
    [row] = [r for r in cli_json("list", *STORE, cwd=walk.folder) if r["name"] == "walk"]
    assert row["graded"] == 2
    [line] = cli_json("report", "walk", *STORE, "--out", "report", cwd=walk.folder)["rows"]
    passes = sum(bool(passed) for _, passed in EXPECTED[walk.protocol])
    assert (line["valid"], line["passed"]["value"]) == (2, passes / 2)
    assert len(list((walk.folder / "report" / "trials").rglob("*.html"))) == 2
    if walk.protocol == "holistic":
        [own] = cli_json("report", "walk", *STORE, "--judged-by", "judge", cwd=walk.folder)["rows"]
        assert own["passed"]["value"] == 0.5, "the judge's round changes no figure of the people's, and has its own"
    with walk.store() as store:
        grading = [r for r in store.find(Round) if r.purpose is Purpose.GRADING]
        assert len({(r.by, r.overlap) for r in grading}) == len(grading), "no round was opened twice"
    assert cli("store", "check", "--deep", *STORE, cwd=walk.folder).stdout.strip() == "sound"


@pytest.mark.browser
@pytest.mark.box
@pytest.mark.long(seconds=240)
@pytest.mark.thorough(
    quick="app/round/test_rli_round_by_api.py::test_rli_round_through_the_api_with_a_tour_in_the_browser"
)
@pytest.mark.parametrize("protocol", ["holistic", "rubric", "program"])
def test_walk_from_task_new_to_report_survives_kills_in_each_state(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    model = Model()
    with serving(model) as served:
        walk = Walk(tmp_path, protocol, model, served.base_url)
        walk.package()
        judge_stage(walk)
        with chromium() as browser:
            people_stage(walk, browser)
        report_stage(walk)
