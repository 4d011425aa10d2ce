"""Rubrics, waiting work and disagreements in the API."""

from __future__ import annotations

import tomllib
from typing import Any

from app.admin.conftest import Served
from worksample.audit.rubric_checks import INSTEAD, lint
from worksample.people import RoundKind


def one(id: str, text: str, **rest: Any) -> dict[str, Any]:
    return {"id": id, "text": text, "importance": "critical", "by": "person", "gate": False, **rest}


FIRST = [one("title", "Contains a title"), one("sums", 'The sums are "right" to the cent', by="judge", gate=True)]


async def test_rubric_is_written_changed_and_exported_as_a_file(served: Served) -> None:
    async def save(over: int, criteria: Any, reason: str = "", status: int = 201, role: str = "expert") -> Any:
        body = {"over": over, "reason": reason, "criteria": criteria}
        return await served.post("/rubrics/report/versions", body, role=role, status=status)

    made = await save(0, FIRST)
    assert (made["number"], made["criteria"], made["author"], made["rounds"]) == (1, FIRST, "an expert", [])
    await save(1, FIRST[:1], "sums are the program's", role="admin")
    late = await save(1, FIRST[1:], "I was slower", status=409)
    assert "version 2 now" in late["error"]["what"]
    twice = await save(2, [FIRST[0], FIRST[0]], "twice", status=422)
    assert twice["error"]["faults"] == {"title": "this id occurs twice"}
    assert (await served.get("/rubrics/report"))["versions"][1] == made
    [row] = await served.get("/rubrics")
    assert (row["name"], row["number"], row["criteria"], row["rounds"]) == ("report", 2, 1, 0)
    text = (await served.get("/rubrics/report/1/criteria.toml", role="expert")).decode()
    assert tomllib.loads(text)["criterion"][1]["by"] == "judge"
    assert (await served.post("/criteria/read", {"text": text}, role="expert"))["criteria"] == FIRST
    await served.get("/rubrics/report/3/criteria.toml", status=404)
    for role in ("evaluator", "reviewer"):
        await served.get("/rubrics", role=role, status=403)
        await save(2, FIRST, "not mine", status=403, role=role)


async def test_invalid_rubric_files_are_refused_with_places(served: Served) -> None:
    async def faults(text: str) -> dict[str, str]:
        refused = await served.post("/criteria/read", {"text": text}, status=422)
        found: dict[str, str] = refused["error"]["faults"]
        return found

    assert "criteria.toml" in str(await faults("[[criterion]\n"))
    assert "importance" in str(await faults('[[criterion]]\nid = "a"\ntext = "x"\nimportance = "crucial"\n'))
    assert list(await faults('[[criterion]]\nid = "a"\ntext = "x"\npoints = 2\n')) == ["a"]


async def test_linter_is_the_one_of_task_check(served: Served) -> None:
    texts = ["Work is of professional quality", "Contains a title", ""]
    found = await served.post("/criteria/lint", {"texts": texts}, role="expert")
    [flaw] = lint(texts[0])[:1]
    assert found["flaws"][0][0] == {"fault": flaw.fault, "words": flaw.words, "instead": INSTEAD[flaw.fault]}
    assert found["flaws"][1:] == [[], []] and "5 to 20 are usual" in found["size"]


async def test_waiting_work_and_disagreements_are_listed(served: Served) -> None:
    desk = served.desk
    [now] = await served.get("/waiting")
    assert (now["name"], now["planned"], now["waits_for_people"], now["rounds"]) == ("x", 4, 4, [])
    round = desk.open(RoundKind.HOLISTIC).id
    people = [desk.hire(name) for name in ("ann", "bob", "cem")]

    def answer(account: Any, item: Any) -> dict[str, Any]:
        return {"score": 1 if account.name == "cem" else 2, "justification": f"as {account.name} sees it"}

    item = desk.people.drafting.claim(served.people["reviewer"], round)
    assert item is None  # reviewers judge no such round
    own = desk.people.drafting.claim(served.people["admin"], round)
    assert own is not None
    desk.work_off(people, answer, round)
    refused = await served.get("/experiments/x1/disagreements", status=409)
    assert "open" in refused["error"]["what"]
    [now] = await served.get("/waiting")
    # A majority may stand before the last vote is in.
    assert now["waits_for_people"] in (0, 1)
    assert (now["rounds"][0]["votes"], now["rounds"][0]["out"]) == (1, 1)
    assert now["rounds"][0]["pay"] is None and now["rounds"][0]["measured"]
    desk.people.leasing.release(own.id, served.people["admin"])
    found = await served.get("/experiments/x1/disagreements", role="reviewer")
    assert (found["looked_at"], found["parted"], len(found["rows"])) == (4, found["parted"], found["parted"])
    whole = found["rows"][0]
    assert (whole["criterion"], whole["between"]) == ("", ["person"])
    votes = {v["evaluation"] for v in (await served.get(f"/rounds/{round}/votes"))["votes"]}
    assert {side["evaluation"] for row in found["rows"] for side in row["sides"]} <= votes
    assert {side["name"] for side in whole["sides"]} <= {"ann", "bob", "cem"}
    assert "lab/" not in str(found)
    await served.get("/experiments/nope/disagreements", status=404)
    await served.get("/waiting", role="reviewer", status=403)


async def test_round_uses_criteria_of_the_chosen_protocol(served: Served) -> None:
    body = {"kind": "rubric", "experiment": "x1", "waive_pilot": "few", "protocol": "rubric"}
    assert (await served.post("/rounds", body, status=201))["protocol"] == "rubric"
    refused = await served.post("/rounds", {**body, "protocol": "program"}, status=400)
    assert "program" in refused["error"]["what"]
    await served.post("/rounds", {**body, "protocol": "holistic"}, status=400)
