"""Votes and verdicts of a round in the API, with numbered agents, or with names after the admin's consent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.admin.conftest import Served
from people.worlds import folder_of
from worksample.people import NotReady, RoundKind
from worksample.records import Submission
from worksample.viewing import prepare


def mixed(account: Any, item: Any) -> dict[str, Any]:
    return {"score": 2 if account.name == "ann" else 1, "justification": "report.txt, its first line"}


def voted(served: Served, **rest: Any) -> str:
    desk = served.desk
    round = desk.open(**rest)
    desk.work_off([desk.hire(name) for name in ("ann", "bob", "cem")], mixed)
    return round.id


async def test_agents_are_numbered_without_names(served: Served) -> None:
    round = voted(served)
    for role in ("reviewer", "admin"):
        votes = await served.get(f"/rounds/{round}/votes", role=role)
        verdicts = await served.get(f"/rounds/{round}/verdicts", role=role)
        assert {v["agent"] for v in votes["votes"]} == {"Agent 1", "Agent 2"}
        assert len(votes["votes"]) == 12 and len(verdicts["verdicts"]) == 4
        numbers = {v["submission"]: v["agent"] for v in votes["votes"]}
        assert {v["submission"]: v["agent"] for v in verdicts["verdicts"]} == numbers
        blind = [{k: v for k, v in row.items() if k != "submission"} for row in votes["votes"] + verdicts["verdicts"]]
        assert "maker" not in json.dumps(blind) and "lab/" not in json.dumps(blind)
        assert (votes["names"], votes["barred"]) == (False, "")
    assert (
        served.desk.people.drafting.claim(served.people["admin"], round) is None
    )  # every item has its votes; not barred


async def test_names_require_an_admin_and_bar_the_admin_from_judging(served: Served) -> None:
    round = served.desk.open().id
    await served.get(f"/rounds/{round}/votes?names=true", role="reviewer", status=403)
    item = served.desk.people.drafting.claim(served.people["admin"], round)
    assert item is not None
    for query in ("votes", "verdicts", "votes?names=true", "verdicts?names=true"):
        refused = await served.get(f"/rounds/{round}/{query}", status=409)
        assert "open" in refused["error"]["what"] and refused["error"]["next"]
    served.desk.people.leasing.release(item.id, served.people["admin"])
    found = await served.get(f"/rounds/{round}/verdicts?names=true")
    assert found["names"] and "You get no more items of this round" in found["barred"]
    with pytest.raises(NotReady):
        served.desk.people.drafting.claim(served.people["admin"], round)
    assert (await served.get(f"/rounds/{round}"))["names_seen"]
    assert not (await served.get(f"/rounds/{round}", role="reviewer"))["names_seen"]


async def test_names_are_the_real_agents(served: Served) -> None:
    round = voted(served)
    found = await served.get(f"/rounds/{round}/votes?names=true")
    assert {v["agent"] for v in found["votes"]} == {"maker-0 (lab/model-0)", "maker-1 (lab/model-1)"}
    for v in found["votes"]:
        assert v["submission"].startswith(f"s-{v['agent'].split()[0]}.")


async def test_vote_contains_every_answer_and_whether_it_stands(served: Served) -> None:
    round = voted(served)
    votes = (await served.get(f"/rounds/{round}/votes"))["votes"]
    first = next(v for v in votes if v["voter"]["name"] == "ann")
    assert first["said"] == {
        "type": "holistic", "score": 2, "justification": "report.txt, its first line", "inspected": True,
    }  # fmt: skip
    assert (first["minutes"], first["stands"], first["struck"]) == (0.75, True, None)
    assert first["instance"].count("/") == 1 and first["voter"]["account"]
    assert first["voter"]["background"]["hours"] is None
    wish = {"action": "strike", "target": "evaluation", "target_id": first["evaluation"], "reason": "a slip"}
    made = await served.post("/amendments", wish, status=201)
    assert (made["author"], made["reason"]) == ("an admin", "a slip")
    again = {v["evaluation"]: v for v in (await served.get(f"/rounds/{round}/votes"))["votes"]}
    struck = again.pop(first["evaluation"])
    assert not struck["stands"] and struck["struck"]["reason"] == "a slip" and struck["struck"]["author"] == "an admin"
    assert all(v["stands"] and v["struck"] is None for v in again.values())
    served.desk.clock.pass_(1)
    await served.post("/amendments", {**wish, "action": "restore"}, status=201)
    assert all(v["stands"] for v in (await served.get(f"/rounds/{round}/votes"))["votes"])
    await served.post("/amendments", {**wish, "target_id": "no"}, status=404)
    await served.post("/amendments", {**wish, "reason": " "}, status=400)


async def test_votes_of_every_form_are_described(served: Served) -> None:
    desk = served.desk
    person = desk.hire("ann", "evaluator", "expert", "reviewer")
    answers = {
        RoundKind.PAIRWISE: {"completion": "first", "quality": "second", "justification": "it is whole"},
        RoundKind.TAGS: {"tags": ["corrupt"], "note": "page 2"},
        RoundKind.RUBRIC: {"marks": {"title": "pass", "sums": "fail", "tidy": "cannot_judge"},
                      "feedback": {"sums": "off by one", "tidy": "too dark"}},
        RoundKind.HOLISTIC: {"score": 1, "critical_flaw": "empty", "recognised": "guess"},
    }  # fmt: skip
    for kind, answer in answers.items():
        round = desk.open(kind)
        desk.work_off([person], lambda account, item, answer=answer: answer)
        vote = (await served.get(f"/rounds/{round.id}/votes"))["votes"][0]
        said = vote["said"]
        if kind is RoundKind.PAIRWISE:
            assert (said["completion"], said["quality"]) == ("first", "second")
            assert vote["second"] and {vote["agent"], vote["second_agent"]} == {"Agent 1", "Agent 2"}
        elif kind is RoundKind.TAGS:
            assert said == {"type": "tags", "tags": ["corrupt"], "note": "page 2"}
        elif kind is RoundKind.RUBRIC:
            assert {p["name"]: (p["fraction"], p["skip"], p["reason"]) for p in said["parts"]} == {
                "title": (1.0, None, ""), "sums": (0.0, None, "off by one"), "tidy": (None, "cannot_judge", "too dark"),
            }  # fmt: skip
        else:
            assert (vote["critical_flaw"], vote["recognised"]) == ("empty", "guess")


async def test_declined_evaluations_have_their_reasons(served: Served) -> None:
    desk = served.desk
    round, person = desk.open(), desk.hire("ann")
    item = desk.people.drafting.claim(person, round.id)
    assert item is not None
    desk.people.judging.skip(item.id, person, "I know this work")
    (vote,) = (await served.get(f"/rounds/{round.id}/votes"))["votes"]
    assert (vote["outcome"], vote["said"], vote["reason"]) == ("declined", None, "I know this work")


async def test_decisions_of_audits_and_adjudications_are_shown(served: Served) -> None:
    round = voted(served)
    desk = served.desk
    desk.open(RoundKind.ADJUDICATION, over=round)
    desk.work_off([served.people["reviewer"]], lambda account, item: {"score": 3, "justification": "better"})
    for row in (await served.get(f"/rounds/{round}/verdicts", role="reviewer"))["verdicts"]:
        assert (row["by"], row["passed"], row["votes_passed"]) == ("adjudication", True, False)


async def test_reviewer_decides_before_reading_votes(served: Served) -> None:
    round = voted(served)
    desk = served.desk
    desk.open(RoundKind.ADJUDICATION, over=round)
    assert desk.people.drafting.claim(served.people["reviewer"]) is not None
    await served.get(f"/rounds/{round}/votes", role="reviewer", status=409)
    await served.get(f"/rounds/{round}/votes")


async def test_preferences_number_agents_too(served: Served) -> None:
    desk = served.desk
    round = desk.open(RoundKind.PAIRWISE)
    answer = {"completion": "first", "quality": "first", "justification": "it is whole"}
    desk.work_off([desk.hire("ann"), desk.hire("bob"), desk.hire("cem")], lambda account, item: answer)
    found = await served.get(f"/rounds/{round.id}/preferences")
    assert len(found["preferences"]) == 2
    assert {r[side] for r in found["preferences"] for side in ("first", "second")} == {"Agent 1", "Agent 2"}
    named = await served.get(f"/rounds/{round.id}/preferences?names=true")
    assert {r["first"].split("-")[0] for r in named["preferences"]} == {"maker"}
    other = desk.open()
    assert "pairs" in (await served.get(f"/rounds/{other.id}/preferences", status=400))["error"]["what"]


@pytest.mark.box
async def test_files_that_may_name_their_makers_are_listed(served: Served) -> None:
    desk = served.desk
    round = desk.open()
    before = await served.get(f"/rounds/{round.id}/leaks")
    assert (before["looked"], before["waiting"], before["files"]) == (0, 4, [])
    late = desk.store.get(Submission, "s-maker-0.p0")
    digest = folder_of(desk.store, {"by maker-0.pdf": b"%PDF-1.4 cut", "notes.txt": b"hello"})
    part = late.parts["output"].replaced(manifest=digest, files=2)
    desk.store.commit(late.replaced(id="s-other", experiment=None, trial=None, parts={"output": part}))
    other = desk.open(subjects=("s-other",))
    await prepare(desk.store, desk.store.manifest(digest))
    found = await served.get(f"/rounds/{other.id}/leaks")
    assert (found["looked"], found["waiting"], found["leaking"]) == (2, 0, 1)
    assert found["files"][0]["path"] == "by █████.pdf" and found["files"][0]["leaks"]


async def test_experiments_and_pilots_are_listed(served: Served) -> None:
    (found,) = await served.get("/experiments")
    assert (found["id"], found["agents"], found["instances"], found["submissions"]) == ("x1", 2, 2, 4)
    assert await served.get("/pilots") == {
        "instructions": served.desk.people.instructions.digest, "passed": False, "needed": 0.85, "fewest": 5,
        "pilots": [],
    }  # fmt: skip
    desk = served.desk
    desk.deliver_late("maker-0")
    round = desk.open(RoundKind.PILOT)
    same = {"score": 2, "justification": "all of it"}
    desk.work_off([desk.hire("ann"), desk.hire("bob")], lambda account, item: same)
    found = await served.get("/pilots")
    assert found["passed"] and found["pilots"][0]["round"] == round.id and found["pilots"][0]["items"] == 5
    assert found["pilots"][0]["share"]["value"] == 1.0


async def test_submission_page_hides_the_maker_unless_names_are_shown(served: Served) -> None:
    desk = served.desk
    round = desk.open(RoundKind.HOLISTIC).id
    people = [desk.hire(name) for name in ("ann", "bob")]
    desk.work_off(people, mixed, round)
    [shown] = (await served.get("/waiting"))[0]["work"][:1]
    assert shown["waits_for"] == "person"
    submission = desk.store.get(Submission, shown["submission"])
    seen = await served.get(f"/submissions/{submission.id}", role="reviewer")
    assert seen["instance"] == shown["instance"]
    assert [p["label"] for p in seen["shown"]] == ["Reference", "Deliverable"]
    assert {v["voter"]["name"] for r in seen["rounds"] for v in r["votes"]} == {"ann", "bob"}
    assert (seen["agent"], seen["origin"], seen["steps"], seen["barred"]) == ("", "", [], "")
    assert "maker-" not in json.dumps({k: v for k, v in seen.items() if k != "id"}).replace(submission.id, "")
    assert [o["standing"] for o in seen["outcomes"]] == ["undecided"]
    for role in ("evaluator", "expert"):
        await served.get(f"/submissions/{submission.id}", role=role, status=403)
    await served.get(f"/submissions/{submission.id}?names=true", role="reviewer", status=403)
    await served.get("/submissions/nope", status=404)

    item = desk.people.drafting.claim(served.people["admin"], round)
    assert item is not None
    [mine] = desk.behind(item)
    refused = await served.get(f"/submissions/{mine}", status=409)
    assert "open" in refused["error"]["what"]
    await served.get(f"/submissions/{mine}?names=true", status=409)
    desk.people.leasing.release(item.id, served.people["admin"])
    named = await served.get(f"/submissions/{submission.id}?names=true")
    assert named["agent"].startswith("maker-") and named["origin"] == "trial" and "no more items" in named["barred"]
    for barred in (round, desk.open(RoundKind.RUBRIC).id):
        with pytest.raises(NotReady, match="seen the makers' names"):
            desk.people.drafting.claim(served.people["admin"], barred)
