"""The round of `test_rli_round_in_browsers` by people who use the API; one of them begins in Chromium."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser

from app.round.driving import serving
from app.round.judging import PASSWORD, Plan, behind
from app.round.test_rli_round_in_browsers import (
    EVALUATORS,
    Office,
    browser,
    check_metrics,
    check_preferences,
    check_verdicts,
    confirm,
    decide,
    holistic,
    pairwise,
    store,
)
from worksample.app.server.http_server import BoundSocket
from worksample.records import Experiment
from worksample.store import Store

__all__ = ["browser", "store"]
pytestmark = [pytest.mark.browser, pytest.mark.long(seconds=40), pytest.mark.box]
TOUR = 2
"""So many items are judged in the browser."""


class Caller:
    """A person who is signed in and asks the API."""

    def __init__(self, served: BoundSocket, name: str, token: str) -> None:
        origin = httpx.URL(served.config.app_origin)
        self.name = name
        # By address: names below localhost are not every resolver's.
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{origin.port}/api/v1", headers={"Host": origin.netloc.decode()}, timeout=120
        )
        self.client.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answer = self.client.request(method, path, json=body)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def judge(self, store: Store, round: str, plan: Plan) -> int:
        """Take a round's items until nothing is left; returns how many were handed in."""
        count = 0
        while (claimed := self.client.post("/claims", json={"round": round})).status_code != 204:
            assert claimed.status_code == 200, claimed.text
            item = claimed.json()["id"]
            said = {k: int(v) if k == "score" else v for k, v in plan(behind(store, item, self.name)).items()}
            self.ask("POST", f"/items/{item}/submit", {"payload": said, "key": f"{self.name} {item}"})
            count += 1
        return count


class Desk:
    """The admin, and who was hired over the API."""

    def __init__(self, store: Store, office: Office, served: BoundSocket) -> None:
        self.store, self.office, self.served = store, office, served
        owner = office.people.accounts.create("Olga", ["admin"])
        self.admin = Caller(served, owner.name, office.people.accounts.open_session(owner))

    def hire(self, name: str, role: str) -> Caller:
        """By an invitation, like anybody else."""
        invited = self.admin.ask("POST", "/invitations", {"roles": [role]}, 201)
        accepted = {"token": invited["token"], "name": name, "password": PASSWORD, "bearer": True}
        found = Caller(self.served, name, self.admin.ask("POST", "/invitations/accept", accepted)["token"])
        found.ask("POST", "/training/read", status=204)
        return found

    def known(self, name: str) -> Caller:
        """Somebody who made the account in the browser."""
        account = next(a for a in self.office.people.accounts.all() if a.name == name)
        return Caller(self.served, name, self.office.people.accounts.open_session(account))

    def open(self, kind: str, **settings: Any) -> str:
        if not settings.keys() & {"over", "holistic"}:
            settings["waive_pilot"] = "a round on scripted agents"
        if "over" not in settings:
            settings["experiment"] = self.store.find(Experiment)[0].id
        made: dict[str, Any] = self.admin.ask("POST", "/rounds", {"kind": kind, **settings}, 201)
        return str(made["id"])


def test_rli_round_through_the_api_with_a_tour_in_the_browser(store: Store, browser: Browser) -> None:
    ann, ben, cem = EVALUATORS
    with serving(store) as served:
        office = Office(store, browser, served)
        office.hire(ann, "evaluator")
        votes = office.admin.open("Holistic")
        assert office.judge(ann, votes, holistic(ann), TOUR) == TOUR

        desk = Desk(store, office, served)
        callers = [desk.known(ann), *(desk.hire(name, "evaluator") for name in (ben, cem))]
        rita = desk.hire("Rita", "reviewer")
        assert [c.judge(store, votes, holistic(c.name)) for c in callers] == [12 - TOUR, 12, 12]
        pairs = desk.open("pairwise", holistic=votes, per_pair=2, waive_pilot="a round on scripted agents")
        assert [c.judge(store, pairs, pairwise) for c in callers[:2]] == [6, 6]
        assert rita.judge(store, desk.open("audit", over=votes), confirm) == 4
        assert rita.judge(store, desk.open("adjudication", over=votes), decide) == 1

        shown = office.admin.verdicts(votes)
        assert desk.admin.ask("GET", f"/rounds/{votes}/verdicts?names=true")["verdicts"] == shown
        for context in browser.contexts:
            context.close()
        office.watch.check()
    check_verdicts(store, votes, shown)
    check_preferences(store, pairs)
    check_metrics(store)
