"""Rounds in the API: opening, pausing, adding submissions, and the dashboard."""

from __future__ import annotations

from typing import Any

from app.admin.conftest import Served
from people.worlds import WAIVED
from worksample.people import Gold, Profile, RoundKind


def voting(account: Any, item: Any) -> dict[str, Any]:
    return {"score": 2 if account.name == "ann" else 1, "justification": "report.txt, its first line"}


NEW = {"kind": "holistic", "experiment": "x1", "waive_pilot": WAIVED, "seed": 7}


async def test_round_is_opened_paused_and_listed(served: Served) -> None:
    assert await served.get("/rounds") == []
    made = await served.post("/rounds", {**NEW, "overlap": 3, "reason": "a first look"}, status=201)
    assert (made["kind"], made["form"], made["state"], made["rule"]) == ("holistic", "holistic", "open", "majority")
    assert made["progress"]["items"] == 4 and made["progress"]["wanted"] == 12
    assert (made["experiment"], made["experiment_name"], made["author"]) == ("x1", "x", "an admin")
    assert made["at"] == served.desk.clock.now and made["seed"] == 7 and made["waived_pilot"] == WAIVED
    assert made["settings"]["lease_minutes"] == 15 and not made["names_seen"]
    paused = await served.post(f"/rounds/{made['id']}/state", {"state": "paused"})
    assert paused["state"] == "paused"
    (row,) = await served.get("/rounds", role="reviewer")
    assert row["id"] == made["id"] and row["state"] == "paused" and "settings" not in row
    audit = await served.post("/rounds", {"kind": "audit", "over": made["id"]}, status=400)
    assert audit["error"]["kind"] == "PlanError"


async def test_invalid_round_is_refused_with_reason(served: Served) -> None:
    for wrong, says in (
        ({"kind": "holistic", "experiment": "x1"}, "pilot"),
        ({"kind": "audit", "experiment": "x1"}, "needs another round to review"),
        ({"kind": "holistic"}, "experiment or subjects"),
        ({**NEW, "lease_minutes": 0}, "the request is wrong"),
        ({**NEW, "surprise": 1}, "the request is wrong"),
    ):
        assert says in (await served.post("/rounds", wrong, status=400))["error"]["what"]
    await served.post("/rounds", {**NEW, "experiment": "no"}, status=404)
    for path in ("", "/dashboard", "/votes", "/verdicts", "/preferences", "/export?format=csv"):
        await served.get(f"/rounds/no{path}", status=404)
    for path in ("/state", "/top-up", "/restock", "/strike-findings"):
        await served.post(f"/rounds/no{path}", {"state": "open"}, status=404)


async def test_gold_items_and_roles_are_stored(served: Served) -> None:
    gold = [{"subject": "s-maker-0.p0", "expected": {"score": 1}, "explanation": "it is empty"}]
    made = await served.post("/rounds", {"kind": "calibration", "gold": gold, "roles": ["expert"]}, status=201)
    assert made["roles"] == ["expert"]
    item = served.desk.people.drafting.claim(served.people["expert"], made["id"])
    assert item is not None
    served.desk.people.judging.submit(item.id, served.people["expert"], {"score": 1, "justification": "empty"}, "k")
    (gold_view,) = (await served.get(f"/rounds/{made['id']}/dashboard"))["gold"]
    assert (gold_view["name"], gold_view["passed"], gold_view["share"]["value"]) == ("an expert", True, 1.0)
    assert gold_view["over_time"] == [{"at": served.desk.clock.now, "right": True}]


async def test_late_submissions_are_added(served: Served) -> None:
    made = await served.post("/rounds", NEW, status=201)
    served.desk.deliver_late("maker-0")
    assert await served.post(f"/rounds/{made['id']}/top-up") == {"added": 1}
    assert await served.post(f"/rounds/{made['id']}/top-up") == {"added": 0}
    assert await served.post(f"/rounds/{made['id']}/restock") == {"added": 0}


async def test_empty_dashboard_gives_reasons(served: Served) -> None:
    made = await served.post("/rounds", NEW, status=201)
    found = await served.get(f"/rounds/{made['id']}/dashboard", role="reviewer")
    assert found["progress"]["given"] == 0
    assert set(found["agreement"]["share"]) == {"none"}
    for part in ("leniency", "backgrounds", "position_bias", "throughput", "gold"):
        assert set(found[part]) == {"none"}, part
    assert found["false_negatives"] is None


async def test_dashboard_has_every_figure(served: Served) -> None:
    desk = served.desk
    backgrounds = {"ann": Profile(domains=("upwork:design",), hours=10), "bob": Profile(hours=900), "cem": Profile()}
    voters = [desk.people.accounts.set_profile(desk.hire(name), profile) for name, profile in backgrounds.items()]
    round = desk.open(gold=(Gold("s-maker-0.p0", {"score": 1}),), subjects=("s-maker-1.p0", "s-maker-1.p1"))
    assert desk.work_off(voters, voting) == 9
    fails = desk.open(RoundKind.FALSE_NEGATIVES, over=round.id)
    desk.work_off([served.people["reviewer"]], voting)
    found = await served.get(f"/rounds/{round.id}/dashboard")
    assert found["progress"]["given"] == 6
    share = found["agreement"]["share"]
    assert abs(share["value"] - 1 / 3) < 1e-12 and share["printed"] == "33.3" and share["counts"]["planned"] > 0
    people = {row["name"]: row for row in found["leniency"]}
    assert people["ann"]["own"]["value"] == 1.0 and people["ann"]["others"]["value"] == 0.0
    assert people["ann"]["background"] == {
        "domains": ["upwork:design"], "hours": 10.0, "earnings": None, "rating": None, "pay_rate": None,
    }  # fmt: skip
    groups = {(b["trait"], b["group"]): b for b in found["backgrounds"]}
    assert groups["hours", "below 455"]["own"]["value"] == 1.0
    assert {t["name"]: (t["given"], t["minutes"]) for t in found["throughput"]}["bob"] == (2, 0.75)
    assert {g["name"]: g["share"]["value"] for g in found["gold"]} == {"ann": 0.0, "bob": 1.0, "cem": 1.0}
    assert found["false_negatives"]["value"] == 0.0 and found["false_negatives"]["high"] is not None
    detail = await served.get(f"/rounds/{round.id}")
    assert detail["looked_at_by"] == [fails.id]


async def test_pairs_have_position_bias(served: Served) -> None:
    desk = served.desk
    round = desk.open(RoundKind.PAIRWISE)
    answer = {"completion": "first", "quality": "equal", "justification": "it is whole"}
    desk.work_off([desk.hire("ann"), desk.hire("bob")], lambda account, item: answer)
    everybody, *each = (await served.get(f"/rounds/{round.id}/dashboard"))["position_bias"]
    assert everybody["person"] is None and everybody["completion"]["value"] == 1.0
    assert set(everybody["quality"]) == {"none"}
    assert sorted(row["name"] for row in each) == ["ann", "bob"]


async def test_submissions_with_findings_are_struck(served: Served) -> None:
    desk = served.desk
    round = desk.open(overlap=1)
    desk.work_off([desk.hire("ann")], voting)
    desk.open(RoundKind.INTEGRITY, over=round.id)
    said = {"finding": "leak", "justification": "step 3 reads the grader"}
    desk.work_off([served.people["reviewer"]], lambda account, item: said)
    made = await served.post(f"/rounds/{round.id}/strike-findings")
    assert len(made["submissions"]) == len(made["amendments"]) == 4
    assert await served.post(f"/rounds/{round.id}/strike-findings") == {"amendments": [], "submissions": []}
