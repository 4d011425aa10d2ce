"""No response to an evaluator names the makers of the judged work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.sites import Browser, Site
from worksample.people import Gold, RoundKind
from worksample.records import Agent, Submission

ANSWERS: dict[str, dict[str, Any]] = {
    "holistic": {"score": 2, "justification": "all there"},
    "pairwise": {"completion": "first", "quality": "equal", "justification": "all there"},
    "rubric": {"marks": {"title": "pass", "sums": "pass", "tidy": "pass"}},
    "tags": {"tags": ["incomplete"]},
    "integrity": {"finding": "sound", "justification": "all there"},
}


def secrets(site: Site) -> set[str]:
    """All that would tell."""
    store = site.desk.store
    found = {"trial", "cost", "usage", "entrant", "manifest", "x1"}
    for agent in store.find(Agent):
        found |= {agent.id, agent.name, agent.model or "-", (agent.model or "-/-").split("/")[1]}
    for submission in store.find(Submission):
        found |= {submission.id, submission.trial or "-", submission.parts["output"].manifest}
    for instance in site.desk.instances:
        found |= {g.reference for g in instance.grading.values()}
    return found - {"-"}


class Ear:
    """Keeps all that was answered."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.heard = browser, list[str]()
        browser.client.event_hooks["response"].append(self._note)

    async def _note(self, response: httpx.Response) -> None:
        await response.aread()
        self.heard.append(f"{dict(response.headers)} {response.text}")


@pytest.mark.parametrize(
    "kind",
    [RoundKind.HOLISTIC, RoundKind.PAIRWISE, RoundKind.RUBRIC, RoundKind.TAGS, RoundKind.CALIBRATION, "integrity"],
)
async def test_responses_to_evaluators_never_name_makers(tmp_path: Path, kind: Any) -> None:
    site = Site(tmp_path, agents=3, projects=3)
    desk = site.desk
    if kind == "integrity":
        voters = [desk.hire(name) for name in ("v1", "v2", "v3")]
        over = desk.open()
        desk.work_off(voters, lambda *_: ANSWERS["holistic"], over.id)
        desk.open(RoundKind.INTEGRITY, over=over.id)
    elif kind is RoundKind.CALIBRATION:
        desk.open(kind, gold=(Gold("s-maker-0.p0", {"score": 1}, "empty"),))
    else:
        desk.open(kind, **({"gold": (Gold("s-maker-0.p0", {"score": 1}),), "subjects": ("s-maker-1.p1",)}
                           if kind is RoundKind.HOLISTIC else {}))  # fmt: skip
    forbidden = secrets(site)
    async with site.browser("rita", "evaluator", "expert", "reviewer") as rita:
        ear = Ear(rita)
        count = 0
        while (response := await rita.post("/claims", {})).status_code == 200:
            item = response.json()
            here = f"/items/{item['id']}"
            payload = ANSWERS[item["protocol"]]
            await rita.put(f"{here}/draft", {"revision": 0, "payload": payload})
            await rita.post(f"{here}/heartbeat")
            await rita.post(f"{here}/submit", {"payload": {}, "key": "k"})
            await rita.post(f"{here}/submit", {"payload": payload, "key": "k"})
            await rita.post(f"{here}/submit", {"payload": payload, "key": "other"})
            for what in ("", "/earlier", "/quiz"):
                await rita.get(here + what)
            count += 1
        assert count
        for path in ("/me", "/queues", "/history", "/training", "/flag-kinds"):
            await rita.get(path)
        said = "\n".join(ear.heard)
        for secret in sorted(forbidden):
            assert secret not in said, secret


async def test_sides_of_a_pair_differ_only_in_labels(tmp_path: Path) -> None:
    site = Site(tmp_path, agents=2, projects=4)
    site.desk.open(RoundKind.PAIRWISE, overlap=1)
    async with site.browser("ann") as ann:
        while (response := await ann.post("/claims", {})).status_code == 200:
            item = response.json()
            first, second = (p for p in item["shown"] if p["label"].startswith("AD-"))
            assert {k: v for k, v in first.items() if k not in ("label", "content")} == {
                k: v for k, v in second.items() if k not in ("label", "content")
            }
            assert len(first["content"]) == len(second["content"]) and first["content"] != second["content"]
            await ann.post(f"/items/{item['id']}/submit", {"payload": ANSWERS["pairwise"], "key": "k"})


async def test_content_addresses_differ_between_people_and_sessions(tmp_path: Path) -> None:
    """Two evaluators cannot find out by comparing addresses that they look at the same thing."""
    site = Site(tmp_path, agents=1, projects=1)
    site.desk.open()
    async with site.browser("ann") as ann, site.browser("ann") as elsewhere, site.browser("bob") as bob:
        items = [await ann.claim(), await elsewhere.claim(), await bob.claim()]
        found = [p["content"] for item in items for p in item["shown"]]
        assert len(set(found)) == len(found) == 6
        assert (await ann.claim())["shown"] == items[0]["shown"], (
            "within a session they stay, so that browsers keep files"
        )


async def test_experiment_name_is_shown_to_admins_only(tmp_path: Path) -> None:
    site = Site(tmp_path, agents=1, projects=1)
    site.desk.open()
    async with site.browser("ann") as ann, site.browser("root", "admin") as root:
        assert [q["experiment"] for q in (await ann.get("/queues")).json()] == [""]
        assert [q["experiment"] for q in (await root.get("/queues")).json()] == ["x"]


async def test_missing_record_is_not_named(tmp_path: Path) -> None:
    from sqlalchemy import delete

    from worksample.store import schema

    site = Site(tmp_path, agents=1, projects=1)
    site.desk.open()
    with site.desk.store.database.writing() as connection:
        connection.execute(delete(schema.submissions))
    async with site.browser("ann") as ann, site.browser("root", "admin") as root:
        response = await ann.post("/claims", {})
        assert response.status_code == 404 and "maker" not in response.text, response.text
        assert json.loads(response.text)["error"]["where"] == ""
        assert "s-maker-0.p0" in (await root.post("/claims", {})).text
