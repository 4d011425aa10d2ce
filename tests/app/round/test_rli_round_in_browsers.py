"""A whole round of the Remote Labor Index on the starter suite, by people in browsers, from invitations to metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.round.driving import Watch, chromium, desk_of, enter, serving
from app.round.judging import Plan, Shown, accept, read_training, work_off
from cli.run_cli import cli_json
from worksample.app.server.http_server import BoundSocket
from worksample.people import DecidedBy, People, final_verdicts, preferences
from worksample.records import Agent, Instance, Round, Standing, Submission
from worksample.store import Store
from worksample.tasks import find_suite

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.box]
INSTANCES = ("web-page/bakery", "logo-vector/kite", "survey-chart/commute", "sales-cleanup/branches-q1")
EVALUATORS = ("Ann", "Ben", "Cem")
CONTESTED = Shown("logo-vector/kite", ("good",))
ORDER = {"good": 2, "hasty": 1, "lazy": 0}


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The demo's agents on four instances."""
    folder = tmp_path_factory.mktemp("round")
    scripts = find_suite("starter").parent / "scripts"
    agents = [f'[[agents]]\nname = "{name}"\nharness = "scripted"\nscript = "{scripts / name}"\n' for name in ORDER]
    head = f'name = "demo"\nsuite = "starter"\nonly = {json.dumps(INSTANCES)}\nparallel = 2\n'
    (folder / "demo.toml").write_text("\n".join([head, *agents]))
    # In a process of its own, as people run it.
    done = cli_json("run", folder / "demo.toml", "--store", folder / "store")
    assert done["complete"] and done["graded"] == 12
    with Store.open(folder / "store") as opened:
        yield opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def holistic(name: str) -> Plan:
    """Good work passes and the rest does not; Ann alone rejects one good piece of work."""

    def plan(shown: Shown) -> dict[str, str | bool]:
        good = shown.agents == ("good",) and not (name == "Ann" and shown == CONTESTED)
        why = "Everything that the brief asks for is in the files." if good else "It misses what the brief asks for."
        return {"score": "2" if good else "1", "justification": why, "inspected": True}

    return plan


def pairwise(shown: Shown) -> dict[str, str | bool]:
    """The better agent's work is closer to completion, and better."""
    first, second = (ORDER[agent] for agent in shown.agents)
    side = "first" if first > second else "second"
    return {"completion": side, "quality": side, "justification": "The other one misses parts.", "inspected": True}


def confirm(shown: Shown) -> dict[str, str | bool]:
    assert shown.agents == ("good",), "an audit looks at what passed"
    return {"score": "2", "justification": "Every file was opened again.", "inspected": True}


def decide(shown: Shown) -> dict[str, str | bool]:
    assert shown == CONTESTED, "an adjudication looks at what is contested"
    return {"score": "1", "justification": "The plotter cannot cut this outline.", "inspected": True}


class Admin:
    """The admin's browser."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def invite(self, role: str) -> str:
        self.page.goto("/admin/people")
        choice = self.page.get_by_role("group", name="Roles")
        for name in ("evaluator", "expert", "reviewer", "admin"):
            choice.get_by_role("checkbox", name=name).set_checked(name == role)
        self.page.get_by_role("button", name="Invite").click()
        link = self.page.get_by_role("textbox", name="Link").input_value()
        self.page.keyboard.press("Escape")
        return link

    def open(self, kind: str, **settings: str) -> str:
        """Open a round by the form; returns its id."""
        self.page.goto("/admin/rounds/new")
        self.page.get_by_role("radio", name=kind).check()
        if "over" not in settings:
            self.page.get_by_label("Experiment").select_option(index=1)
            self.page.get_by_label("Reason to go without a pilot").fill("a round on scripted agents")
        else:
            self.page.get_by_label("Round to review").select_option(settings["over"])
        if "holistic" in settings:
            self.page.get_by_label("Who succeeded").select_option(settings["holistic"])
            self.page.get_by_label("Projects per pair of agents").fill(settings["per_pair"])
        return self._opened()

    def look_again(self, round: str, button: str) -> str:
        """Open a round over another from that one's page."""
        self.page.goto(f"/admin/rounds/{round}")
        self.page.get_by_role("button", name=button).click()
        expect(self.page.get_by_label("Round to review")).to_have_value(round)
        return self._opened()

    def _opened(self) -> str:
        with self.page.expect_response(
            lambda r: r.url.endswith("/api/v1/rounds") and r.request.method == "POST"
        ) as made:
            self.page.get_by_role("button", name="Open the round").click()
        assert made.value.status == 201, made.value.text()
        id = str(made.value.json()["id"])
        expect(self.page.get_by_role("progressbar", name="Answers given")).to_be_visible()
        return id

    def verdicts(self, round: str) -> list[dict[str, Any]]:
        """From the API, with names."""
        path = f"/api/v1/rounds/{round}/verdicts?names=true"
        found: list[dict[str, Any]] = self.page.evaluate(f"fetch('{path}').then(r => r.json())")["verdicts"]
        return found


class Office:
    """Browsers of everybody."""

    def __init__(self, store: Store, browser: Browser, served: BoundSocket) -> None:
        self.store, self.browser, self.served = store, browser, served
        self.watch = Watch(served.config.host)
        self.people = People(store)
        owner = self.people.accounts.create("Ada", ["admin"])
        self.admin = Admin(enter(self.desk(), self.people.accounts.one_time_link(owner.name)))
        self.pages: dict[str, Page] = {}

    def desk(self) -> Page:
        return desk_of(self.browser, self.served, self.watch)

    def hire(self, name: str, role: str) -> None:
        page = self.desk()
        accept(page, self.admin.invite(role), name)
        read_training(page)
        self.pages[name] = page

    def judge(self, name: str, round: str, plan: Plan, most: int | None = None) -> int:
        return work_off(self.store, self.pages[name], name, round, plan, most)


@pytest.mark.long(seconds=230)
@pytest.mark.thorough(
    quick="app/round/test_rli_round_by_api.py::test_rli_round_through_the_api_with_a_tour_in_the_browser"
)
def test_rli_round_in_browsers_gives_its_metrics(store: Store, browser: Browser) -> None:
    with serving(store) as served:
        office = Office(store, browser, served)
        for name in EVALUATORS:
            office.hire(name, "evaluator")
        office.hire("Rita", "reviewer")

        votes = office.admin.open("Holistic")
        assert [office.judge(name, votes, holistic(name)) for name in EVALUATORS] == [12, 12, 12]
        pairs = office.admin.open("Pairwise", holistic=votes, per_pair="2")
        # Two votes on each of six pairs; they agree, so that nothing is left for the third.
        assert [office.judge(name, pairs, pairwise) for name in EVALUATORS[:2]] == [6, 6]
        audit = office.admin.look_again(votes, "Audit positives")
        assert office.judge("Rita", audit, confirm) == 4
        adjudication = office.admin.open("Adjudication", over=votes)
        assert office.judge("Rita", adjudication, decide) == 1

        shown = office.admin.verdicts(votes)
        for context in browser.contexts:
            context.close()
        office.watch.check()
    check_verdicts(store, votes, shown)
    check_preferences(store, pairs)
    check_metrics(store)


def check_verdicts(store: Store, votes: str, shown: list[dict[str, Any]]) -> None:
    """Good work passed, the rest did not, the contested piece is as it was adjudicated: by the API and the library."""
    finals = final_verdicts(store, votes)
    assert len(finals) == len(shown) == 12
    for one in shown:
        final, agent = finals[one["submission"]], one["agent"].partition(" (")[0]
        contested = Shown(one["instance"], (agent,)) == CONTESTED
        assert one["passed"] is final.verdict.passed is (agent == "good" and not contested), one
        assert one["by"] == final.by.value
        assert final.verdict.standing is Standing.DECIDED
        assert (final.by is DecidedBy.ADJUDICATION) is contested
        assert final.votes.passed is (agent == "good")
        submission = store.get(Submission, one["submission"])
        assert store.get(Agent, submission.entrant).name == agent
        assert store.get(Instance, submission.instance).key == one["instance"]
    counts = {r.id: r for r in store.find(Round)}
    assert counts[votes].versions["people.waived_pilot"] == "a round on scripted agents"


def check_preferences(store: Store, pairs: str) -> None:
    """Each pair of agents met on two projects, and the better one was preferred on both."""
    found = preferences(store, pairs)
    names = {agent.id: agent.name for agent in store.find(Agent)}
    rows = [(names[r["first"]], names[r["second"]], r["preference"]) for r in found.iter_rows(named=True)]
    assert len(rows) == 6
    assert all(preference == float(ORDER[first] > ORDER[second]) for first, second, preference in rows)
    assert {frozenset(row[:2]) for row in rows} == {
        frozenset(p) for p in (("good", "hasty"), ("good", "lazy"), ("hasty", "lazy"))
    }


def check_metrics(store: Store) -> None:
    """What the command line prints of it."""
    sections = {section["id"]: section for section in cli_json("metrics", "--store", store.name)}
    rates = {row["label"]: row["cells"][0]["value"] for row in sections["automation"]["rows"]}
    assert rates == {"good": 0.75, "hasty": 0, "lazy": 0}
    preferred = {row["label"]: row["cells"][0]["value"] for row in sections["preferences"]["rows"]}
    assert preferred == {"good over hasty": 1, "good over lazy": 1, "hasty over lazy": 1}
    [row] = [row for row in sections["agreement"]["rows"] if row["label"] == "holistic votes"]
    # Of the 36 pairs of votes on one item, two differ: Ann's with Ben's and with Cem's on the contested one.
    assert row["cells"][0]["value"] == pytest.approx(34 / 36)
