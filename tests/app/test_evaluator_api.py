"""An evaluator's work through the API: each endpoint, each status."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.sites import YES, Browser, Site, problem
from worksample.people import Gold, RoundKind
from worksample.people.quality import round_dashboard as dashboard
from worksample.records import Evaluation, EvaluationOutcome, ResolutionRule


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, agents=2, projects=2)


@pytest.fixture
async def ann(site: Site) -> AsyncIterator[Browser]:
    async with site.browser("ann", "evaluator", "expert") as browser:
        yield browser


async def test_item_is_claimed_viewed_drafted_and_handed_in(ann: Browser) -> None:
    desk = ann.site.desk
    round = desk.open()
    (queue,) = (await ann.get("/queues")).json()
    assert (queue["round"], queue["left"], queue["missing"], queue["state"]) == (round.id, 4, "", "open")
    item = await ann.claim(round=round.id)
    assert [p["label"] for p in item["shown"]] == ["Reference", "Alternative"]
    assert item["brief_html"].startswith("<p>") and item["notes_html"] == "<p>Ignore the cover.</p>\n"
    assert item["instructions_page"].startswith("<h1>")
    assert (await ann.get(f"/items/{item['id']}")).json() == item
    here = f"/items/{item['id']}"
    desk.clock.pass_(60)
    beat = (await ann.post(f"{here}/heartbeat")).json()
    assert beat["expires"] == desk.clock.now + 15 * 60 * 1_000_000
    body = {"revision": 0, "payload": {"score": 2, "note": "ünï"}, "active_seconds": 30}
    draft = (await ann.put(f"{here}/draft", body)).json()
    assert draft == {"revision": 1, "payload": body["payload"], "saved": desk.clock.now, "active_seconds": 30.0}
    assert (await ann.put(f"{here}/draft", body)).json() == draft, "sent again"
    problem(await ann.put(f"{here}/draft", {**body, "payload": {}}), 409, "Conflict")
    assert (await ann.post(f"{here}/seen", {"pane": "Alternative", "path": "report.txt"})).status_code == 204
    again = (await ann.get(here)).json()
    assert again["draft"] == draft and again["seen"] == [["Alternative", "report.txt"]]
    desk.clock.pass_(30)
    given = (await ann.post(f"{here}/submit", {"payload": YES, "key": "k", "active_seconds": 20})).json()
    record = desk.store.get(Evaluation, given["evaluation"])
    assert record.outcome is EvaluationOutcome.GIVEN and record.minutes == 50 / 60
    (past,) = (await ann.get("/history")).json()
    assert past["state"] == "done" and past["evaluation"] == record.id and past["title"] == item["title"]
    assert (await ann.get("/queues")).json()[0]["mine"] == {"open": 0, "done": 1, "skipped": 0}


async def test_repeated_hand_in_is_idempotent_and_another_answer_conflicts(ann: Browser) -> None:
    round = ann.site.desk.open()
    item = await ann.claim()
    body = {"payload": YES, "key": "k"}
    answers = [await ann.post(f"/items/{item['id']}/submit", body) for _ in range(3)]
    assert {a.status_code for a in answers} == {200} and len({a.text for a in answers}) == 1
    problem(await ann.post(f"/items/{item['id']}/submit", {**body, "key": "other"}), 409, "Conflict")
    problem(await ann.post(f"/items/{item['id']}/skip", {"reason": "late"}), 409, "Conflict")
    problem(await ann.put(f"/items/{item['id']}/draft", {"revision": 0, "payload": {}}), 409, "Conflict")
    assert dashboard.progress(ann.site.desk.people.store, round.id).given == 1


async def test_incomplete_answer_names_each_faulty_question(ann: Browser) -> None:
    ann.site.desk.open()
    item = await ann.claim()
    error = problem(await ann.post(f"/items/{item['id']}/submit", {"payload": {"score": 2}, "key": "k"}), 422)
    assert error["kind"] == "InvalidAnswer" and set(error["faults"]) == {"justification"}
    error = problem(await ann.post(f"/items/{item['id']}/submit", {"payload": {"x": 1}, "key": "k"}), 422)
    assert "score" in error["faults"]
    problem(await ann.post(f"/items/{item['id']}/skip", {"reason": " "}), 422, "InvalidAnswer")


async def test_malformed_bodies_are_refused_field_by_field(ann: Browser) -> None:
    ann.site.desk.open()
    here = f"/items/{(await ann.claim())['id']}"
    for path, body, field in (
        ("submit", {"payload": YES, "key": ""}, "key"), ("submit", {"payload": [], "key": "k"}, "payload"),
        ("submit", {"payload": YES, "key": "k", "active_seconds": -1}, "active_seconds"),
        ("submit", {"payload": YES, "key": "k", "more": 1}, "more"), ("submit", {"payload": YES}, "key"),
        ("seen", {"pane": "Alternative"}, "path"), ("flag", {"kind": "other", "text": "x" * 5001}, "text"),
    ):  # fmt: skip
        assert field in problem(await ann.post(f"{here}/{path}", body), 400, "UsageError")["faults"], body
    headers = {"Content-Type": "application/json"}
    for content in (
        b"", b"{", b"[1]", b'"x"', b"\xff", b"[" * 100_000, b'{"payload": {"a": NaN}, "revision": 0}',
        b'{"payload": {"a": "\\ud800"}, "revision": 0}', b'{"payload": {}, "revision": 1e400}',
    ):  # fmt: skip
        problem(await ann.send("PUT", f"{here}/draft", headers=headers, content=content), 400)
    problem(await ann.put(f"{here}/draft", {"revision": 0, "payload": {"a": "x" * 300_000}}), 400)
    problem(await ann.post(f"{here}/flag", {"kind": "boredom", "text": ""}), 400, "UsageError")
    for round in ("nope", "a b", "\x00", 7):
        problem(await ann.post("/claims", {"round": round}), 400, "UsageError")


async def test_item_can_be_released_skipped_and_flagged(ann: Browser) -> None:
    ann.site.desk.open(overlap=1, rule=ResolutionRule.LATEST)
    one = await ann.claim()
    assert (await ann.get("/flag-kinds")).json()[0] == "broken file"
    said = {"kind": "broken file", "text": "<b>report.txt</b>"}
    assert (await ann.post(f"/items/{one['id']}/flag", said)).status_code == 204
    assert (await ann.post(f"/items/{one['id']}/release")).status_code == 204
    assert (await ann.claim())["id"] == one["id"], "may be given again"
    assert (await ann.post(f"/items/{one['id']}/skip", {"reason": "I know the client"})).status_code == 200
    other = await ann.claim()
    assert other["id"] != one["id"]
    ahead = await ann.claim(ahead=True)
    assert ahead["id"] not in (one["id"], other["id"])
    assert (await ann.get("/queues")).json()[0]["mine"] == {"open": 2, "done": 0, "skipped": 1}


async def test_skipped_item_is_taken_back_and_own_answer_is_read(ann: Browser) -> None:
    ann.site.desk.open(overlap=1, rule=ResolutionRule.LATEST)
    here = f"/items/{(await ann.claim())['id']}"
    problem(await ann.get(f"{here}/answer"), 409, "Conflict")
    await ann.post(f"{here}/skip", {"reason": "by mistake"})
    skipped = (await ann.get(f"{here}/answer")).json()
    assert (skipped["said"], skipped["reason"]) == (None, "by mistake")
    assert (await ann.post(f"{here}/take-back")).status_code == 204
    assert f"/items/{(await ann.claim())['id']}" == here
    flaw = {"score": 1, "critical_flaw": "it does not open"}
    assert (await ann.post(f"{here}/submit", {"payload": flaw, "key": "k"})).status_code == 200
    said = (await ann.get(f"{here}/answer")).json()
    assert said["said"]["score"] == 1 and said["critical_flaw"] == "it does not open"
    problem(await ann.post(f"{here}/take-back"), 409, "Conflict")
    problem(await ann.get("/items/nobody/answer"), 404, "NotYours")


async def test_empty_queue_is_not_an_error(ann: Browser) -> None:
    response = await ann.post("/claims", {})
    assert (response.status_code, response.content) == (204, b"")


async def test_training_page_is_required_first(ann: Browser) -> None:
    desk = ann.site.desk
    round = desk.open()
    desk.people.accounts.accept(desk.people.accounts.invite(["evaluator"]), "new", None)
    async with ann.site.browser("new") as new:
        problem(await new.post("/claims", {"round": round.id}), 425, "NotReady")
        assert (await new.post("/claims", {})).status_code == 204
        assert (await new.get("/queues")).json()[0]["missing"] == "read the training page first"
        training = (await new.get("/training")).json()
        assert training["read"] is False and [p["name"] for p in training["pages"]][:2] == ["training", "holistic"]
        assert all(p["html"].startswith("<h1>") and p["title"] for p in training["pages"])
        assert (await new.post("/training/read")).status_code == 204
        assert (await new.get("/training")).json()["read"] is True
        assert (await new.post("/claims", {"round": round.id})).status_code == 200


async def test_item_of_another_person_seems_not_to_exist(ann: Browser) -> None:
    ann.site.desk.open()
    item = await ann.claim()
    await ann.put(f"/items/{item['id']}/draft", {"revision": 0, "payload": {"secret": "thought"}})
    async with ann.site.browser("bob") as bob:
        told = set()
        for id in (item["id"], "0" * 24, "..", "%00", "%ff", "a" * 99, "'%20OR%201=1"):
            for method, what, body in (
                ("GET", "", None), ("POST", "/heartbeat", None), ("POST", "/release", None),
                ("PUT", "/draft", {"revision": 0, "payload": {}}), ("PUT", "/draft", {"revision": 1, "payload": {}}),
                ("POST", "/seen", {"pane": "a", "path": "b"}), ("POST", "/submit", {"payload": YES, "key": "k"}),
                ("POST", "/skip", {"reason": "x"}), ("POST", "/flag", {"kind": "other", "text": "x"}),
                ("GET", "/earlier", None), ("GET", "/quiz", None),
            ):  # fmt: skip
                answer = await bob.send(method, f"/items/{id}{what}", body)
                assert answer.status_code == 404, (id, what, answer.text)
                if id != "..":
                    told.add(answer.text)
        assert len(told) == 1, told
        assert (await bob.get("/history")).json() == []


async def test_forged_or_lost_lease_gives_nothing(ann: Browser) -> None:
    desk = ann.site.desk
    desk.open(subjects=("s-maker-0.p0",), overlap=1, rule=ResolutionRule.LATEST)
    item = await ann.claim()
    async with ann.site.browser("bob") as bob:
        assert (await bob.post("/claims", {})).status_code == 204
        problem(await bob.post(f"/items/{item['id']}/submit", {"payload": YES, "key": "k"}), 404)
        desk.clock.pass_(16 * 60)
        assert (await bob.claim())["id"] == item["id"]
        problem(await ann.post(f"/items/{item['id']}/submit", {"payload": YES, "key": "k"}), 409, "Conflict")
        problem(await ann.post(f"/items/{item['id']}/heartbeat"), 409, "Conflict")
        assert (await bob.post(f"/items/{item['id']}/submit", {"payload": YES, "key": "k"})).status_code == 200


async def test_quiz_shows_the_right_answer_afterwards(ann: Browser) -> None:
    ann.site.desk.open(RoundKind.CALIBRATION, gold=(Gold("s-maker-0.p0", {"score": 1}, "it is empty"),))
    item = await ann.claim()
    problem(await ann.get(f"/items/{item['id']}/quiz"), 409, "Conflict")
    problem(await ann.post(f"/items/{item['id']}/skip", {"reason": "hard"}), 409, "Conflict")
    assert (await ann.get("/queues")).json()[0]["passed"] is None
    await ann.post(f"/items/{item['id']}/submit", {"payload": YES, "key": "k"})
    assert (await ann.get("/queues")).json()[0]["passed"] is False
    assert (await ann.get(f"/items/{item['id']}/quiz")).json() == {
        "right": False, "expected": {"score": 1}, "said": {"score": 2}, "explanation": "it is empty",
    }  # fmt: skip


async def test_adjudicator_sees_earlier_votes_after_deciding(site: Site) -> None:
    desk = site.desk
    voters = [desk.hire(name) for name in ("v1", "v2", "v3")]
    round = desk.open(subjects=("s-maker-0.p0",))
    desk.work_off(voters, lambda a, _: YES if a is voters[0] else {"score": 1, "justification": "no"}, round.id)
    desk.open(RoundKind.ADJUDICATION, over=round.id)
    async with site.browser("rita", "reviewer") as rita:
        item = await rita.claim()
        problem(await rita.get(f"/items/{item['id']}/earlier"), 409, "Conflict")
        await rita.post(f"/items/{item['id']}/submit", {"payload": YES, "key": "k"})
        earlier = (await rita.get(f"/items/{item['id']}/earlier")).json()
        assert sorted(e["said"]["score"] for e in earlier) == [1, 1, 2]
        assert [e["voter"] for e in earlier] == [1, 2, 3] and not any("v1" in str(e) for e in earlier)


async def test_rubric_is_judged_criterion_by_criterion(ann: Browser) -> None:
    ann.site.desk.open(RoundKind.RUBRIC)
    item = await ann.claim()
    assert [c["id"] for c in item["criteria"]["criteria"]] == ["title", "sums", "tidy"]
    error = problem(
        await ann.post(f"/items/{item['id']}/submit", {"payload": {"marks": {"title": "pass"}}, "key": "k"}), 422
    )
    assert set(error["faults"]) == {"sums", "tidy"}
    payload = {"marks": {"title": "pass", "sums": "fail", "tidy": "pass"}, "feedback": {"sums": "2 + 2 is 4"}}
    assert (await ann.post(f"/items/{item['id']}/submit", {"payload": payload, "key": "k"})).status_code == 200


async def test_unknown_paths_and_methods_get_the_error_body(ann: Browser) -> None:
    problem(await ann.get("/nope"), 404, "NotFound")
    problem(await ann.send("DELETE", "/queues"), 405, "NotAllowed")
    problem(await ann.get("/queues/"), 404, "NotFound")
